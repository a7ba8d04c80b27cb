import { CsrfField } from '../../csrf_field.tsx';
import { agentPath, sessionPath } from './links.ts';
import { ActionButton } from './parts.tsx';

/** Lifts the pause of an agent, or of one of its sessions. `obstacle` is why the reader cannot. */
export function ResumeButton({
  agent,
  sessionId,
  obstacle,
  csrf,
  id,
}: {
  agent: string;
  sessionId: string | null;
  obstacle: string | null;
  csrf: string;
  id: string;
}) {
  const path = sessionId === null ? agentPath(agent) : sessionPath(agent, sessionId);
  return (
    <form method="post" action={`${path}/resume`}>
      <CsrfField token={csrf} />
      <ActionButton id={id} label="Resume" obstacle={obstacle} />
    </form>
  );
}
