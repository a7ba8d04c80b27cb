/** Variables that make a shell or a loader run something else than the words say, or read words otherwise. */
const HIDING = new Set([
  ...['PATH', 'BASH_ENV', 'ENV', 'ZDOTDIR', 'FPATH', 'IFS', 'SHELLOPTS', 'BASHOPTS', 'CDPATH', 'GLOBIGNORE'],
  ...['PS0', 'PS1', 'PS2', 'PS3', 'PS4', 'PROMPT_COMMAND', 'EXECIGNORE', 'BASH_ALIASES', 'BASH_CMDS'],
  ...['PAGER', 'MANPAGER', 'GIT_PAGER', 'EDITOR', 'VISUAL', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR', 'FCEDIT'],
  ...['LESSOPEN', 'LESSCLOSE', 'BROWSER', 'SHELL', 'GIT_SSH', 'GIT_ASKPASS', 'SSH_ASKPASS', 'SUDO_ASKPASS'],
  ...['GIT_EXTERNAL_DIFF', 'GIT_EXEC_PATH', 'GIT_PROXY_COMMAND', 'RSYNC_RSH', 'TAR_OPTIONS', 'MAKEFLAGS'],
  ...[
    'NODE_OPTIONS',
    'NODE_PATH',
    'PERL5OPT',
    'PERL5LIB',
    'PERL5DB',
    'RUBYOPT',
    'RUBYLIB',
    'JAVA_TOOL_OPTIONS',
  ],
  ...[
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PYTHONHOME',
    'PYTHONINSPECT',
    'PYTHONWARNINGS',
    'GCONV_PATH',
    'COMSPEC',
  ],
  ...`RUSTC_WRAPPER MAKEFILES GOFLAGS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH LUA_INIT R_PROFILE R_PROFILE_USER PERLLIB PHPRC
    PHP_INI_SCAN_DIR DOTNET_STARTUP_HOOKS GLIBC_TUNABLES EXINIT VIMINIT MANOPT INPUTRC LESS LESSKEY LESSKEYIN PSQLRC
    RIPGREP_CONFIG_PATH GIT_DIR GIT_TEMPLATE_DIR WGETRC`.split(/\s+/),
  ...['TEXTDOMAINDIR', 'MAIL', 'MAILCHECK', 'MAILPATH', 'HOSTALIASES', 'OPENSSL_CONF', 'PATHEXT'],
]);

const HIDING_PREFIX = /^(LD_|DYLD_|BASH_FUNC_|GIT_CONFIG|npm_config_)/i;
const HIDING_SUFFIX = /(_COMMAND|_RSH|_PRELOAD)$/i;

/** Whether a value given to this variable can change what the words of a command run. */
export function hidesCommands(name: string): boolean {
  return HIDING.has(name.toUpperCase()) || HIDING_PREFIX.test(name) || HIDING_SUFFIX.test(name);
}

const PLAIN_NUMBER = /^[-+]?[0-9]+$/;

/** Whether arithmetic on this value evaluates nothing further: bash evaluates `a[$(…)]` held by a variable. */
export function isPlainNumber(value: string): boolean {
  return PLAIN_NUMBER.test(value);
}

/** The variables that an arithmetic text could name, positional ones as `1`. */
export function namesIn(arithmetic: string): string[] {
  return arithmetic.match(/[A-Za-z_]\w*|(?<=\$\{?)[1-9@*]/g) ?? [];
}
