import { type OptionSpec, optionSpec } from './options.ts';

/** A command that runs the command in its operands. */
export interface WrapperSpec {
  options: OptionSpec;
  /** Operands before the command. */
  operands: number;
  /** Whether `NAME=value` may stand before the command. */
  takesAssignments: boolean;
  /** Options with which no command is run. */
  runsNothing: readonly string[];
  /** Options with which it runs a shell when no command is given. */
  startsShell: readonly string[];
  /** Whether it runs a shell when no command is given. */
  hasDefaultShell: boolean;
}

function wrapper(short: string, long = '', more: Partial<Omit<WrapperSpec, 'options'>> = {}): WrapperSpec {
  return {
    options: optionSpec(short, long),
    operands: 0,
    takesAssignments: false,
    runsNothing: [],
    startsShell: [],
    hasDefaultShell: false,
    ...more,
  };
}

const PLAIN = wrapper('');
const SUDO = wrapper(
  'Aa:BbC:c:D:Eeg:Hh::iKklNnPp:R:r:SsT:t:U:u:Vv',
  `askpass auth-type= background bell chdir= chroot= close-from= command-timeout= edit group= help host= list login
   login-class= no-update non-interactive other-user= preserve-env? preserve-groups prompt= remove-timestamp
   reset-timestamp role= set-home shell stdin type= user= validate version`.replace(/\s+/g, ' '),
  {
    takesAssignments: true,
    startsShell: ['s', 'shell', 'i', 'login'],
    runsNothing: ['e', 'edit', 'l', 'list', 'V', 'version', 'K', 'remove-timestamp', 'v', 'validate', 'help'],
  },
);
const UNSHARE =
  `mount? uts? ipc? net? pid? user? cgroup? time? fork map-user= map-users= map-group= map-groups=
  map-root-user map-current-user map-auto keep-caps kill-child? mount-proc? propagation= setgroups= root= wd= setuid=
  setgid= monotonic= boottime= load-interp= mount-binfmt? owner= help version`.replace(/\s+/g, ' ');
const NSENTER =
  `all target= mount? uts? ipc? net? pid? cgroup? user? user-parent time? setgid? setuid? root? wd? wdns?
  preserve-credentials no-fork follow-context env join-cgroup keep-caps net-socket= help version`.replace(
    /\s+/g,
    ' ',
  );
const STRACE = `abbrev= attach= columns= daemonize? debug decode-fds? decode-pids? detach-on= env= failed-only
  follow-forks fault= inject= instruction-pointer interruptible= kvm= no-abbrev output= output-append-mode
  output-separate quiet? raw= read= relative-timestamps? seccomp-bpf secontext? signal= stack-traces? status=
  string-limit= strings-in-hex? successful-only summary summary-columns= summary-only summary-sort-by=
  summary-syscall-overhead= summary-wall-clock syscall-limit= syscall-number syscall-times? trace= trace-path= tips?
  user= verbose= version write= absolute-timestamps? argv0= help`.replace(/\s+/g, ' ');

/** Wrappers of which the options tell all; those that need more stand with their openers. */
export const WRAPPER_TABLE: ReadonlyMap<string, WrapperSpec> = new Map(
  Object.entries({
    builtin: PLAIN,
    noglob: PLAIN,
    nocorrect: PLAIN,
    '-': PLAIN,
    repeat: wrapper('', '', { operands: 1 }),
    exec: wrapper('cla:'),
    command: wrapper('pvV', '', { runsNothing: ['v', 'V'] }),
    sudo: SUDO,
    doas: wrapper('a:C:Lnsu:', '', { hasDefaultShell: true }),
    pkexec: wrapper('u:', 'user= disable-internal-agent keep-cwd help version', { hasDefaultShell: true }),
    nohup: wrapper('', 'help version'),
    setsid: wrapper('cfwhV', 'ctty fork wait help version'),
    nice: wrapper('#n:', 'adjustment= help version'),
    ionice: wrapper('c:n:p:P:u:thV', 'class= classdata= pid= pgid= uid= ignore help version', {
      runsNothing: ['p', 'P', 'u', 'pid', 'pgid', 'uid'],
    }),
    time: wrapper('af:o:pqvVlh', 'append format= output= portability quiet verbose help version'),
    stdbuf: wrapper('i:o:e:', 'input= output= error= help version'),
    chroot: wrapper('', 'groups= userspec= skip-chdir help version', { operands: 1, hasDefaultShell: true }),
    unshare: wrapper('imnpuUCTfrcR:w:S:G:l:hV', UNSHARE, { hasDefaultShell: true }),
    nsenter: wrapper('at:m::u::i::n::p::C::U::T::S::G::r::w::W::FZechVN:', NSENTER, {
      hasDefaultShell: true,
    }),
    strace: wrapper('a:Ab:cCdDe:E:fFhI:ikI:nNo:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ', STRACE),
    ltrace: wrapper('a:A:bcCD:e:F:fhiL:l:n:o:p:rs:StTu:Vw:x:X:', 'help version output='),
    taskset: wrapper('acphV', 'all-tasks cpu-list pid help version', {
      operands: 1,
      runsNothing: ['p', 'pid'],
    }),
    chrt: wrapper(
      'abdefiormpRT:P:D:vhV',
      'all-tasks batch deadline fifo idle other rr reset-on-fork max pid verbose',
      {
        operands: 1,
        runsNothing: ['p', 'pid', 'm', 'max'],
      },
    ),
    numactl: wrapper(
      'i:N:m:C:lp:aHs',
      'interleave= cpunodebind= membind= physcpubind= localalloc preferred= all',
    ),
    setarch: wrapper('B3FIRSTXZLvhV', 'verbose addr-no-randomize help version', {
      operands: 1,
      hasDefaultShell: true,
    }),
    linux32: wrapper('B3FIRSTXZLvhV', '', { hasDefaultShell: true }),
    linux64: wrapper('B3FIRSTXZLvhV', '', { hasDefaultShell: true }),
    caffeinate: wrapper('disumt:w:'),
    'dbus-run-session': wrapper('', 'config-file= dbus-daemon= help version'),
    fakeroot: wrapper('l:s:i:ub:hv', 'lib= faked= unknown-is-real help version', { hasDefaultShell: true }),
    catchsegv: PLAIN,
    chronic: wrapper('ve'),
    unbuffer: wrapper('p'),
    'systemd-inhibit': wrapper('', 'what= who= why= mode= list no-pager help version', {
      runsNothing: ['list'],
    }),
    busybox: wrapper('', 'list list-full help install', {
      runsNothing: ['list', 'list-full', 'help', 'install'],
    }),
    toybox: wrapper('', 'long help version', { runsNothing: ['long', 'help', 'version'] }),
  }),
);
