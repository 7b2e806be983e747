/// The program to run, and the files that it may use in addition to those of the system.
struct ConfineOrder: Equatable {
    /// Whether the program must not run unconfined.
    var isStrict = false
    /// The process that starts it, and with which it ends; nil for none.
    var parent: Int32?
    /// Files that may be read, or folders with everything below.
    var reads: [String] = []
    /// Folders in and below which sockets may be created.
    var sockets: [String] = []
    /// The folder that may be changed.
    var folder = ""
    /// Absolute path of the program, and its arguments.
    var command: [String] = []

    /// Reads arguments; nil if they are invalid.
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

    /// Returns all grants of the program; paths that do not exist are skipped by ``Landlock/restrict(to:)``.
    ///
    /// - Parameter found: folders of programs and libraries outside of the system's, such as those of a toolchain.
    func grants(programs found: [String]) -> [Grant] {
        let program = command[0]
        var programs = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"] + found
        if let slash = program.lastIndex(of: "/"), slash != program.startIndex {
            programs.append(String(program[..<slash]))
        }
        // A package in /opt, such as a LibreOffice that is not of the distribution.
        let parts = program.split(separator: "/")
        if parts.count > 2, parts[0] == "opt" { programs.append("/opt/\(parts[1])") }
        return programs.map { Grant($0, .programs) } + Self.files.map { Grant($0, .reading) }
            + reads.map { Grant($0, .reading) }
            + sockets.map { Grant($0, .makeSocket) } + [Grant("/dev/null", .device), Grant(folder, .everything)]
    }

    // Fonts, names of users, time zones, and what libraries read about the machine. Not all of /etc and /proc, which
    // contain keys and the environments of other processes.
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

/// A path, and the rights on it and everything below.
struct Grant: Equatable {
    let path: String
    let rights: Landlock.Rights

    init(_ path: String, _ rights: Landlock.Rights) {
        (self.path, self.rights) = (path, rights)
    }
}
