import { commandName } from '../command_name.ts';
import { hidden, type Opener } from './outcome.ts';

const EDITOR = /^(?:-[a-zA-Z]*[cSsWuUlq]|--[a-z]|\+)/;
const CONTAINER = /^(?:run|exec|create|debug|attach|compose|rsh)$/;
const NETCAT = /^-[a-zA-Z]*[ec]|^--(?:exec|sh-exec|lua-exec)/;
/** Long options by any beginning that GNU and git take for them; keys of the configuration also where `-c` is joined. */
const GIT = new RegExp(
  '^(?:-c|--con[a-z-]*=)?(?:' +
    '(?:alias|pager|filter|include|includeif|credential|gpg|difftool|mergetool|uploadpack|submodule|hook)\\.|' +
    '(?:diff|merge|sequence|browser|man|guitool|trailer|interactive|tar|sendemail|instaweb|web|ssh)\\.|' +
    'core\\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass|alternaterefscommand)|' +
    'remote\\..*\\.(?:uploadpack|receivepack|vcs)|init\\.templatedir|protocol\\.ext|url\\.ext::)|' +
    '^--(?:upl|rece|exe|ex(?:=|$)|ext(?!-)|config-env|open|templ|tree-filter)|' +
    '^(?:foreach|filter-branch|filter-repo|bisect|daemon|shell|hook|instaweb|web--browse|send-email|remote-ext)$|' +
    '^-[xO]|^ext::',
  'i',
);
const TAR = /^--(?:checkpoint-|to-c|use|rsh|rs$|rmt|rm$|inf|new-)|^-[a-zA-Z]*[IF]/;
const MYSQL = /\\[!.PeTR]|system|pager|\bsource\b|^--(?:defaults|plugin|default-auth|init-command|tee)/;
/** Interpreters whose other arguments are files. */
const CODE = /^--?(?:c|e|p|r|x|ev|eval|exec|print|run)(?:=|$)/;
/** What starts a command in an environment that it sets up. */
const RUNS = /^(?:run|exec|x|shell|exec-env|exec-file|environment)$/;
/** Whatever they are given is a command, or may hold one. */
const ANYTHING = /./;

/**
 * Commands that run another by one of their words, and how that starts. None of it is taken apart: with such a word
 * the command is not understood.
 */
const RUNNING_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['git', GIT],
  ['tar', TAR],
  ['gtar', TAR],
  ['bsdtar', TAR],
  ['rsync', /^-[a-zA-Z]*e|^--(?:rsh|rsync-path)/],
  ['scp', /^-[oSDF]/],
  ['sftp', /^-[oSDFb]/],
  ...['vi', 'vim', 'nvim', 'view', 'ex', 'gvim', 'rvim', 'vimdiff', 'gview', 'rview'].map(
    (name) => [name, EDITOR] as const,
  ),
  ['emacs', /^--?(?:ev|ex|f|l|sc|ba|x)/],
  ['ed', ANYTHING],
  ['man', /^-[PHC]|^--(?:pag|ht|pre|conf)/],
  ['less', /^\+|^-[kP]|^--lesskey/],
  ['zip', /^-[a-zA-Z]*T|^--(?:test|unzip)/],
  ['sort', /^--co/],
  ['gsort', /^--co/],
  ['split', /^--f/],
  ['gsplit', /^--f/],
  ['nc', NETCAT],
  ['ncat', NETCAT],
  ['netcat', NETCAT],
  ['socat', /(?:exec|system|shell):/i],
  ['gdb', /^--?(?:e|i|x|ar|com|ba)/],
  ['lldb', /^-[a-zA-Z]*[osSOQk]|^--(?:one-line|source|batch)/],
  ['sqlite3', /(?:^|\n)[ \t]*\.(?:sh|sy|o|im|lo|re|s$|e$)|^--?init|load_extension|edit\s*\(|\|/],
  ['psql', /\\|^-[aAbeEHlnqsStVwWxXz01]*[foL]|^--(?:fil|ou)|^\|/],
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  ['crontab', /^[^-]|^-$|^-e/],
  ['docker', CONTAINER],
  ['podman', CONTAINER],
  ['nerdctl', CONTAINER],
  ['kubectl', CONTAINER],
  ['oc', CONTAINER],
  ['lxc', CONTAINER],
  ['docker-compose', /^(?:run|exec)$/],
  ['podman-compose', /^(?:run|exec)$/],
  [
    'tmux',
    /^-[a-zA-Z]*[cf]|^(?:new|sp|send|run|if|pipe|resp|popup|dis|set|bind|so|confirm|choose|command|menu)|#\(/,
  ],
  [
    'npm',
    /^(?:exec|x|explore|create|innit)$|^(?:--)?script-shell|^--(?:git|editor|shell|viewer|browser)(?:=|$)/,
  ],
  ['pnpm', /^(?:exec|dlx|create|node)$|script-shell/],
  ['yarn', /^(?:exec|dlx|create|node)$|script-shell/],
  ['uv', /^(?:run|tool)$/],
  ['pipx', /^run$/],
  ['poetry', /^run$/],
  ['pipenv', /^(?:run|shell)$/],
  ['bundle', /^exec$/],
  ['nix-shell', /^--(?:run|command)/],
  ['nix', /^(?:run|shell|develop|-c|--command)$/],
  ['vagrant', /^ssh$/],
  ['wget', /^-[bcdEFHKLmNnpqrSvVx46hk]*e|^--(?:use-a|exe|conf)/],
  ['tcpdump', /^-[a-zA-Z]*z/],
  ['rg', /^--(?:pre(?:=|$)|hostname-bin)/],
  ['ag', /^--pager/],
  ['fd', /^-[a-zA-Z]*[xX]|^--exec/],
  ['fdfind', /^-[a-zA-Z]*[xX]|^--exec/],
  ['cmake', /^-[EP]/],
  ['go', /^--?(?:exec|toolexec|vettool)/],
  ['ip', /^(?:netns|vrf)$|^-[a-zA-Z]*b/],
  ['perf', /^(?:stat|record|trace|bench|sched|kvm|lock|mem|c2c)$/],
  ['gcloud', /^--command/],
  ['hg', /^--(?:config|ssh|remotecmd|debugger)|^(?:alias|hooks|extensions|merge-tools|ui)\./],
  ['svn', /^--(?:config-option|config-dir|diff-cmd|diff3-cmd|editor-cmd)/],
  ...`ghc octave gnuplot erl clojure clj iex racket sbcl mongo mongosh ipython ts-node tsx coffee kotlin ocaml r`
    .split(' ')
    .map((name) => [name, CODE] as const),
  ...`conda mamba micromamba pixi hatch pdm rye direnv rbenv pyenv asdf mise volta rustup op doppler aws-vault chamber dotenvx
    infisical sops teller flatpak snap guix`
    .split(/\s+/)
    .map((name) => [name, RUNS] as const),
  ...`screen systemd-run start-stop-daemon npx bunx uvx m4 dc sshpass ssh-agent xvfb-run dbus-launch firejail bwrap proot
    setpriv capsh runcon chpst softlimit setuidgid envuidgid envdir s6-setuidgid s6-envdir daemonize daemon cpulimit
    prlimit valgrind rlwrap entr watchexec nodemon hyperfine tini dumb-init gosu su-exec run-parts ifne lckdo pee sg
    machinectl systemd-nspawn systemd-cat eatmydata faketime torify torsocks proxychains proxychains4 schroot aa-exec
    cgexec run0 distrobox toolbox flatpak-spawn lxc-attach lxc-execute limactl lima pssh parallel-ssh pdsh clush mosh
    autossh ansible salt salt-call xterm gnome-terminal konsole psexec runas conhost launchctl coreutils`
    .split(/\s+/)
    .map((name) => [name, ANYTHING] as const),
]);

/** Those that take commands of their own from their input, and among these some that run others. */
const READS_COMMANDS: ReadonlySet<string> = new Set([
  ...['psql', 'mysql', 'mariadb', 'sqlite3', 'gdb', 'lldb', 'crontab', 'ed', 'tmux', 'sftp', 'emacs'],
  ...[
    'vi',
    'vim',
    'nvim',
    'view',
    'ex',
    'gvim',
    'rvim',
    'vimdiff',
    'octave',
    'gnuplot',
    'erl',
    'clojure',
    'clj',
  ],
  ...['iex', 'racket', 'sbcl', 'mongo', 'mongosh', 'ipython', 'ts-node', 'coffee', 'ocaml', 'r', 'ghc'],
]);

export const OPTION_RUNNERS: readonly string[] = [...RUNNING_WORDS.keys()];

export const openOptionRunner: Opener = ({ words, isPiped, redirections }) => {
  const name = commandName(words[0]?.value ?? '');
  const pattern = RUNNING_WORDS.get(name);
  const values = words.slice(1).flatMap(({ value }) => value ?? []);
  const isFed = isPiped || redirections.some(({ operator }) => operator.startsWith('<'));
  if (isFed && READS_COMMANDS.has(name)) return [hidden(`\`${name}\` takes commands from what it reads`)];
  const runs = values.some((value) => pattern?.test(value) === true) || runsByPlace(name, values);
  return runs ? [hidden(`\`${name}\` can run what its words say`)] : [];
};

/** What runs a command only where it stands. */
function runsByPlace(name: string, values: readonly string[]): boolean {
  const [first = ''] = values;
  // The options of `tar` need no dash in its first word.
  if (/^(?:g|bsd)?tar$/.test(name)) return /^[a-zA-Z]*[IF]/.test(first);
  if (name === 'git') return values.includes('clone') && values.some((value) => /^-[a-z]*u/.test(value));
  if (name === 'npm') return values.includes('init') && values.some((value) => /^(?!init$)[^-]/.test(value));
  return name === 'crontab' && values.length === 0;
}
