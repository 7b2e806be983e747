/// What is to be run, and what it may touch beside the system.
struct ConfineOrder: Equatable {
    /// Whether it may run only confined.
    var isStrict = false
    /// The process that starts it, and without which it must not run; nil: whatever becomes of that.
    var parent: Int32?
    /// Files, or folders with all below, that may be read.
    var reads: [String] = []
    /// Folders in which, and below which, sockets may be made.
    var sockets: [String] = []
    /// The folder that may be changed.
    var folder = ""
    /// Absolute path of the program, and its arguments.
    var command: [String] = []

    /// Reads arguments; nil where they make no sense.
    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        options: while let option = rest.popFirst() {
            switch option {
            case "--strict": isStrict = true
            case "--parent":
                guard let number = rest.popFirst().flatMap({ Int32($0) }), number > 0 else { return nil }
                parent = number
            case "--read", "--sockets", "--folder":
                guard let path = rest.popFirst(), path.hasPrefix("/") else { return nil }
                switch option {
                case "--read": reads.append(path)
                case "--sockets": sockets.append(path)
                default: folder = path
                }
            case "--":
                command = Array(rest)
                break options
            default: return nil
            }
        }
        guard !folder.isEmpty, command.first?.hasPrefix("/") == true else { return nil }
    }

    /// All that the program may touch. What is not there is left out by who grants it.
    ///
    /// - Parameter found: folders of programs and libraries that are elsewhere than the system has them, such as those
    ///   of a toolchain.
    func grants(programs found: [String]) -> [Grant] {
        let program = command[0]
        var programs = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"] + found
        if let slash = program.lastIndex(of: "/"), slash != program.startIndex {
            programs.append(String(program[..<slash]))
        }
        // A package of its own, such as a LibreOffice that is not the distribution's.
        let parts = program.split(separator: "/")
        if parts.count > 2, parts[0] == "opt" { programs.append("/opt/\(parts[1])") }
        return programs.map { Grant($0, .programs) } + Self.files.map { Grant($0, .reading) }
            + reads.map { Grant($0, .reading) }
            + sockets.map { Grant($0, .makeSocket) } + [Grant("/dev/null", .device), Grant(folder, .everything)]
    }

    // Fonts, names of users, time zones, what libraries ask of the machine. Not all of /etc and /proc: keys are there,
    // and the environments of other processes.
    private static let files = [
        "/etc/alternatives", "/etc/fonts", "/etc/group", "/etc/gtk-3.0", "/etc/ld.so.cache", "/etc/ld.so.conf",
        "/etc/ld.so.conf.d", "/etc/ld.so.preload",
        "/etc/libreoffice", "/etc/locale.alias", "/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf",
        "/etc/papersize", "/etc/passwd", "/etc/timezone",
        "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice",
        "/proc/cpuinfo", "/proc/filesystems", "/proc/meminfo", "/proc/self", "/proc/stat", "/proc/sys/vm",
        "/proc/version",
        "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/random", "/dev/urandom", "/dev/zero",
    ]
}

/// A path, and what may be done with it and all below.
struct Grant: Equatable {
    let path: String
    let rights: Landlock.Rights

    init(_ path: String, _ rights: Landlock.Rights) {
        (self.path, self.rights) = (path, rights)
    }
}
