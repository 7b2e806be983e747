import Glibc

/// The files of Larder's build outside of the system's folders that programs consist of: file by file, because a folder
/// that they are in may be a home with everything in it.
enum LoadedFiles {
    /// Returns the worker beside this program, which a wrapper may start, and the libraries beside it and in all
    /// folders from which this process has loaded one (proc_pid_maps(5)): the worker has its own in the same places.
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

    /// Returns the folders of libraries, without those of the system, which a program may read as a whole.
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

    /// Whether a file is named as libraries are, such as `libc.so.6`.
    private static func isLibrary(_ name: Substring) -> Bool {
        let parts = name.split { $0 == "." || $0.isNewline }
        return parts.count > 1 && parts.dropFirst().contains("so")
    }
}
