/**
 * Programs that run what their arguments, or the files of a project, say: an entry for one would allow anything. What
 * the analyser opens or knows as a shell, an interpreter, a wrapper or a multiplexer is not among them. Whoever wants
 * one of them on an allowlist writes the entry.
 */
const NAMES: ReadonlySet<string> = new Set(
  [
    // Package managers and builders, which run the scripts of packages.
    `npm pnpm yarn corepack bun deno pip pip3 pipx uv poetry pipenv pdm hatch rye tox nox conda mamba micromamba pixi gem
     bundle bundler cpan cpanm composer cargo rustup go dotnet nuget mix rebar3 lein boot sbt stack cabal opam dune zig nim
     nimble dart flutter swift swiftc xcodebuild bazel bazelisk buck buck2 pants cmake ctest meson scons waf bmake qmake
     invoke inv fab task grunt gulp nx turbo lerna pre-commit act earthly dagger tilt skaffold vagrant packer terraform
     tofu terragrunt pulumi helm helmfile ansible ansible-playbook puppet chef-apply chef-client salt salt-call nix
     nix-shell guix brew apt apt-get dpkg yum dnf rpm apk pacman zypper snap flatpak`,
    // Interpreters whose arguments are not read.
    `r ghc runghc runhaskell ocaml ocamlrun kotlin kotlinc clojure clj erl escript iex racket sbcl clisp ecl gnuplot octave
     maxima sage gp ipython ipython3 bpython jupyter mongo mongosh crystal coffee sqlplus psql mysql mariadb sqlite3
     redis-cli mono wine wine64 nush sash osh ysh brush oil gcc cc g++ c++ clang clang++ cpp ld rustc byebug irb pry`,
    // Runners of commands on this host, in containers, and on others.
    `git-shell ssh-agent mosh autossh pssh pdsh clush docker-compose podman-compose buildah ctr crictl kubectl oc virsh
     multipass limactl colima machinectl systemd-nspawn systemctl service ip openvpn pppd launchctl supervisorctl pm2
     forever foreman honcho direnv rbenv pyenv nvm asdf mise volta heroku flyctl fly aws gcloud az vault consul op doppler
     fd fdfind rg ag wget tcpdump gpg gpg2 ssh-keygen ssh-add openssl hg svn cvs rclone restic borg emacsclient xdg-open
     open run-parts logrotate more info lynx w3m mutt mail mailx ftp telnet xterm gnome-terminal konsole schtasks psexec
     runas conhost pcalua explorer msiexec scriptrunner sc reg certutil control hh cmstp odbcconf regasm regsvcs`,
  ]
    .join(' ')
    .split(/\s+/),
);

/** Whether a command of this name, without its version, is never put on an allowlist by approving it. */
export function isNeverLearned(name: string): boolean {
  return NAMES.has(name) || NAMES.has(name.replace(/-?\d[\d.]*$/, ''));
}
