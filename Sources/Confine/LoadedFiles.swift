import Glibc

/// The files of this process: a program of the same build has its libraries in the same places.
enum LoadedFiles {
    /// Returns the folders of the program and of all loaded libraries, by proc_pid_maps(5).
    static func folders() -> [String] {
        guard let file = fopen("/proc/self/maps", "re") else { return [] }
        defer { fclose(file) }
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        while getline(&line, &capacity, file) > 0, let line { lines.append(String(cString: line)) }
        free(line)
        return folders(in: lines)
    }

    static func folders(in maps: some Sequence<String>) -> [String] {
        var folders: [String] = []
        for line in maps {
            guard let start = line.firstIndex(of: "/"), let slash = line.lastIndex(of: "/"), start < slash else {
                continue
            }
            let folder = String(line[start..<slash])
            if !folders.contains(folder) { folders.append(folder) }
        }
        return folders
    }
}
