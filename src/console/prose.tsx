/** A sentence of the service as a reader expects it: with a capital and a full stop, and code as code. */
export function Prose({ text }: { text: string }) {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return <>{sentence.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}
