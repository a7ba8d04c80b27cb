/** The environment that commands run in: exactly what was shown, over a few variables of this host. */

/** What is taken over from the environment of this process. None of them decides what code runs, but for `PATH`. */
export const INHERITED_NAMES: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TERM',
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_MESSAGES',
  'LC_MONETARY',
  'LC_NUMERIC',
  'LC_TIME',
];

/** Where executables are looked for when this process has no `PATH`, and then told the command too. */
const PATH_WITHOUT_ONE = '/usr/bin:/bin';

/**
 * Variables by which a loader, a shell, an interpreter or a common tool runs other code than the command names. No
 * such list is complete: it is a net below the rule that nothing passes unshown.
 */
const CODE_NAMES: ReadonlySet<string> = new Set([
  'BASHOPTS',
  'BASH_ENV',
  'BROWSER',
  'CDPATH',
  'CLASSPATH',
  'COMSPEC',
  'DOTNET_STARTUP_HOOKS',
  'EDITOR',
  'ENV',
  'FPATH',
  'GCONV_PATH',
  'GLIBC_TUNABLES',
  'IFS',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'LESSCLOSE',
  'LESSOPEN',
  'MAKEFILES',
  'MAKEFLAGS',
  'MANPAGER',
  'NODE_OPTIONS',
  'NODE_PATH',
  'PAGER',
  'PERLLIB',
  'PROMPT_COMMAND',
  'PS4',
  'RUSTC_WRAPPER',
  'SHELL',
  'SHELLOPTS',
  'SSH_ASKPASS',
  'VISUAL',
  'ZDOTDIR',
  '_JAVA_OPTIONS',
]);
const CODE_PREFIXES: readonly string[] = [
  'BASH_FUNC_',
  'DYLD_',
  'GIT_',
  'LD_',
  'LUA_',
  'NPM_CONFIG_',
  'PERL5',
  'PYTHON',
  'RUBY',
  'npm_config_',
];

/** Who a commit is by: the only variables of git's that are data. */
const GIT_PERSON = /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$/;

/** POSIX.1-2017 XBD §8.1: no `=` in a name, and no NUL anywhere. */
const NAME = /^[^=\0]+$/;

export type Environment = Readonly<Record<string, string>>;

/** What this process has of the inherited names and `more`, as it is now: later changes do not reach commands. */
export function inheritedEnvironment(more: readonly string[]): Environment {
  const inherited: Record<string, string> = { PATH: PATH_WITHOUT_ONE };
  for (const name of [...INHERITED_NAMES, ...more]) {
    const value = process.env[name];
    if (value !== undefined) {
      inherited[name] = value;
    }
  }
  return inherited;
}

/** All that the command gets. */
export function commandEnvironment(inherited: Environment, shown: Environment): Environment {
  return { ...inherited, ...shown };
}

/** Why a variable is not set for a command; undefined when it may be. `allowed` are names that may although they run code. */
export function environmentProblem(
  name: string,
  value: string,
  allowed: ReadonlySet<string>,
): string | undefined {
  if (!NAME.test(name) || value.includes('\0')) {
    return `\`${name}\` is no environment variable`;
  }
  return runsCode(name) && !allowed.has(name)
    ? `\`${name}\` makes other code run than the command names. Name it in \`allowEnv\` if it has to be set`
    : undefined;
}

/** Whether a variable is one by which other code runs than the command names. */
export function runsCode(name: string): boolean {
  return (
    CODE_NAMES.has(name) ||
    (CODE_PREFIXES.some((prefix) => name.startsWith(prefix)) && !GIT_PERSON.test(name))
  );
}
