/// The program to run, and the files that it may use in addition to those of the system.
struct ConfineOrder: Equatable {
    /// Whether the program must not run unconfined.
    var isStrict = false
    /// The process that starts the program, and with which the program ends; nil for none.
    var parent: Int32?
    /// Files that may be read, or folders with everything below.
    var reads: [String] = []
    /// Folders in and below which sockets may be created.
    var sockets: [String] = []
    /// The folder that may be changed.
    var folder = ""
    /// Absolute path of the program, and its arguments.
    var command: [String] = []

    /// Parses arguments; nil if they are invalid.
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

    /// Returns all grants of the program. ``Landlock/restrict(to:)`` skips paths that do not exist.
    ///
    /// - Parameter build: Files of Larder's build that are outside of the system's folders.
    func grants(build: [String]) -> [Grant] {
        (Self.programs + build + [command[0]] + office).map { Grant($0, .programs) }
            + (Self.files + reads).map { Grant($0, .reading) }
            + sockets.map { Grant($0, .makeSocket) } + [Grant("/dev/null", .device), Grant(folder, .changing)]
    }

    /// The folder of a LibreOffice that was not installed by the distribution, such as `/opt/libreoffice7.6`.
    private var office: [String] {
        let program = "/program/soffice"
        return command[0].hasSuffix(program) ? [String(command[0].dropLast(program.count))].filter { !$0.isEmpty } : []
    }

    /// Folders of the system's programs and libraries.
    static let programs = [
        "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/bin", "/lib", "/lib32", "/lib64",
    ]

    // Fonts, translations, time zones, and files with facts about the machine. The rest of /etc and /proc is not
    // granted, because it contains keys and the environments of other processes.
    private static let files = [
        "/usr/share", "/usr/local/share", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/ld.so.preload",
        "/etc/locale.alias", "/etc/localtime", "/var/cache/fontconfig",
        "/proc/cpuinfo", "/proc/filesystems", "/proc/meminfo", "/proc/self", "/proc/stat",
        "/proc/sys/vm/overcommit_memory",
        "/sys/devices/system/cpu", "/sys/devices/system/node", "/dev/random", "/dev/urandom", "/dev/zero",
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
