import CConfine
import Glibc

/// Landlock, by which a process permanently drops rights of itself and its children. Source: docs.kernel.org,
/// "Landlock: unprivileged access control" (userspace-api/landlock).
enum Landlock {
    /// Rights on files, by the bits of `struct landlock_ruleset_attr`.
    struct Rights: OptionSet {
        let rawValue: UInt64

        static let execute = Rights(rawValue: 1 << 0)
        static let writeFile = Rights(rawValue: 1 << 1)
        static let readFile = Rights(rawValue: 1 << 2)
        static let readFolder = Rights(rawValue: 1 << 3)
        /// To remove folders and files, and to create folders and files.
        static let entries = Rights(rawValue: 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8)
        static let makeSocket = Rights(rawValue: 1 << 9)
        /// To move a file into another folder; since version 2.
        static let refer = Rights(rawValue: 1 << 13)
        /// Since version 3.
        static let truncate = Rights(rawValue: 1 << 14)

        /// Returns the rights that a version knows. Before version 2 a move between folders is always denied. Before
        /// version 3 truncation cannot be denied.
        static func known(to version: Int) -> Rights {
            Rights(rawValue: (1 << 13) - 1).union(version >= 2 ? .refer : []).union(version >= 3 ? .truncate : [])
        }

        /// The rights that a file can have.
        static let ofFiles: Rights = [.execute, .writeFile, .readFile, .truncate]

        static let reading: Rights = [.readFile, .readFolder]
        static let programs: Rights = [.readFile, .readFolder, .execute]
        static let device: Rights = [.readFile, .writeFile]
        /// Files and folders, without links, pipes, sockets and devices, and without the execution of written files.
        static let changing: Rights = [.readFile, .readFolder, .writeFile, .truncate, .entries, .refer]
    }

    /// Why a process cannot be restricted.
    enum Failure: Error {
        /// The kernel has no Landlock, or Landlock is disabled.
        case unsupported
        case failed(call: String, number: Int32)
    }

    /// The version of Landlock's interface; 0 if there is none.
    static var version: Int {
        max(0, Int(larder_landlock_create_ruleset(nil, 0, 1)))
    }

    /// Denies this process all files except those granted. From version 4 on it also denies TCP, and from version 6 on
    /// signals and abstract sockets outside of the process.
    static func restrict(to grants: [Grant]) throws(Failure) {
        let version = version
        guard version > 0 else { throw .unsupported }
        let known = Rights.known(to: version)
        // Files; both directions of TCP; both scopes. The size tells the kernel how many of them this version has.
        var attributes: (UInt64, UInt64, UInt64) = (known.rawValue, 0b11, 0b11)
        let ruleset = larder_landlock_create_ruleset(&attributes, version >= 6 ? 24 : version >= 4 ? 16 : 8, 0)
        guard ruleset >= 0 else { throw .failed(call: "landlock_create_ruleset", number: errno) }
        defer { close(ruleset) }
        for grant in grants { try add(grant, known: known, to: ruleset) }
        guard larder_set_no_new_privileges() == 0 else { throw .failed(call: "prctl", number: errno) }
        guard larder_landlock_restrict_self(ruleset) == 0 else {
            throw .failed(call: "landlock_restrict_self", number: errno)
        }
    }

    private static func add(_ grant: Grant, known: Rights, to ruleset: Int32) throws(Failure) {
        let file = larder_open_path(grant.path)
        // A path that does not exist, or that this process cannot open, needs no grant.
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .failed(call: "fstat", number: errno) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let rights = grant.rights.intersection(known).intersection(isFolder ? known : .ofFiles)
        // `struct landlock_path_beneath_attr` is packed: eight bytes of rights, four of the descriptor.
        let attributes = withUnsafeBytes(of: rights.rawValue, Array.init) + withUnsafeBytes(of: file, Array.init)
        guard larder_landlock_add_rule(ruleset, 1, attributes) == 0 else {
            throw .failed(call: "landlock_add_rule", number: errno)
        }
    }
}

/// The files of Larder's build outside of the system's folders. They are granted one by one, because their folder may
/// be a home directory.
enum LoadedFiles {
    /// Returns the worker beside this program, which a wrapper may start, and libraries: those beside this program, and
    /// those in all folders from which this process has loaded one (proc_pid_maps(5)). The worker loads its libraries
    /// from the same folders.
    static func ofBuild() -> [String] {
        let program = CommandLine.arguments[0]
        let folder = program.lastIndex(of: "/").map { String(program[..<$0]) }
        let beside = folder.map { ["\($0)/larder-pdf-worker"] + libraries(in: $0) } ?? []
        guard let file = fopen("/proc/self/maps", "re") else { return [] }
        defer { fclose(file) }
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        while getline(&line, &capacity, file) > 0, let line { lines.append(String(cString: line)) }
        free(line)
        return beside + folders(in: lines).filter { $0 != folder }.flatMap(libraries(in:))
    }

    /// Returns the folders of libraries, except those of the system, which a program may read completely.
    static func folders(in maps: some Sequence<String>) -> [String] {
        var folders: [String] = []
        for line in maps {
            guard let start = line.firstIndex(of: "/"), let slash = line.lastIndex(of: "/"), start < slash,
                isLibrary(line[slash...].dropFirst())
            else { continue }
            let folder = String(line[start..<slash])
            let isOfSystem = ConfineOrder.programs.contains { folder == $0 || folder.hasPrefix("\($0)/") }
            if !isOfSystem, !folders.contains(folder) { folders.append(folder) }
        }
        return folders
    }

    static func libraries(in folder: String) -> [String] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var files: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isLibrary(name[...]) { files.append("\(folder)/\(name)") }
        }
        return files
    }

    /// Whether a file has the name of a library, such as `libc.so.6`.
    private static func isLibrary(_ name: Substring) -> Bool {
        let parts = name.split { $0 == "." || $0.isNewline }
        return parts.count > 1 && parts.dropFirst().contains("so")
    }
}
