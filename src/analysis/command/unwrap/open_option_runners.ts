import { commandName } from '../command_name.ts';
import { hidden, type Opener } from './outcome.ts';

const EDITOR = /^(?:-[a-zA-Z]*[cSsW]|--cmd|\+)/;
const CONTAINER = /^(?:run|exec|create|debug|attach|compose)$/;
const NETCAT = /^-[a-zA-Z]*[ec]|^--(?:exec|sh-exec|lua-exec)/;
const GIT = new RegExp(
  '^(?:alias|pager|filter|include|includeif|credential|gpg|difftool|mergetool|uploadpack|submodule)\\.|' +
    '^core\\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass|alternaterefscommand)|' +
    '^(?:diff|merge|sequence|browser|man|guitool|trailer|interactive)\\.|' +
    '^--(?:upload-pack|receive-pack|exec|extcmd|config-env|open-files-in-pager|tree-filter)|' +
    '^(?:foreach|filter-branch|filter-repo|bisect|daemon|shell)$|^-[xO]|^ext::',
  'i',
);

/**
 * Commands that run another by one of their words, and how that starts. None of it is taken apart: with such a word
 * the command is not understood.
 */
const RUNNING_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['git', GIT],
  [
    'tar',
    /^--(?:checkpoint-action|to-command|use-compress|rsh-command|info-script|new-volume-script)|^-[a-zA-Z]*[IF]/,
  ],
  ['rsync', /^-[a-zA-Z]*e|^--(?:rsh|rsync-path)/],
  ['scp', /^-[oSDF]/],
  ['sftp', /^-[oSDFb]/],
  ['vi', EDITOR],
  ['vim', EDITOR],
  ['nvim', EDITOR],
  ['view', EDITOR],
  ['ex', EDITOR],
  ['emacs', /^--?(?:eval|execute|f|l|load|funcall|script|batch)/],
  ['ed', /./],
  ['man', /^-[PH]|^--(?:pager|html|preprocessor)/],
  ['less', /^\+|^-[kP]/],
  ['zip', /^-T|^--unzip-command/],
  ['sort', /^--compress-program/],
  ['split', /^--filter/],
  ['nc', NETCAT],
  ['ncat', NETCAT],
  ['netcat', NETCAT],
  ['socat', /(?:exec|system|shell):/i],
  ['gdb', /^--?(?:ex|iex|x|eval|args|command|batch)/],
  ['lldb', /^-[a-zA-Z]*[osSOQk]|^--(?:one-line|source|batch)/],
  ['sqlite3', /\.(?:shell|system|once|output|import|load)|\|/],
  ['psql', /\\|^-f|^--file/],
  ['mysql', /\\!|system/],
  ['crontab', /^[^-]|^-$|^-e/],
  ['docker', CONTAINER],
  ['podman', CONTAINER],
  ['nerdctl', CONTAINER],
  ['kubectl', CONTAINER],
  ['oc', CONTAINER],
  ['lxc', CONTAINER],
  ['tmux', /^(?:new|neww|splitw|send|run|if|pipe|respawn|popup|display-popup|set-hook|source)/],
  ['screen', /./],
  ['systemd-run', /./],
  ['start-stop-daemon', /./],
  ['npx', /./],
  ['bunx', /./],
  ['uvx', /./],
  ['npm', /^(?:exec|x|explore)$/],
  ['pnpm', /^(?:exec|dlx)$/],
  ['yarn', /^(?:exec|dlx)$/],
  ['uv', /^(?:run|tool)$/],
  ['pipx', /^run$/],
  ['poetry', /^run$/],
  ['pipenv', /^(?:run|shell)$/],
  ['conda', /^run$/],
  ['bundle', /^exec$/],
  ['nix-shell', /^--(?:run|command)/],
  ['nix', /^(?:run|shell|develop|-c|--command)$/],
  ['vagrant', /^ssh$/],
  ['m4', /./],
  ['dc', /./],
]);

export const OPTION_RUNNERS: readonly string[] = [...RUNNING_WORDS.keys()];

export const openOptionRunner: Opener = ({ words }) => {
  const name = commandName(words[0]?.value ?? '');
  const pattern = RUNNING_WORDS.get(name);
  const runs = words.slice(1).some(({ value }) => value !== null && pattern?.test(value) === true);
  return runs ? [hidden(`\`${name}\` can run what its words say`)] : [];
};
