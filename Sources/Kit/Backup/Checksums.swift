import Foundation

/// The list of a backup's files with their SHA-256 digests, in the form that sha256sum(1) writes and checks. It is the
/// last file of a backup that is written, and its last line says so.
struct Checksums: Equatable {
    static let fileName = "SHA256SUMS"

    /// Hexadecimal digests by path in the backup.
    var digests: [String: String] = [:]
    /// Paths of files that rows name, and that the data directory had lost when the backup was made.
    var lost: Set<String> = []
    /// Who made the backup, and when.
    var origin = ""

    init(origin: String) {
        self.origin = origin
    }

    /// Parses the file.
    ///
    /// - Returns: Nil if it is incomplete, or names a file that is not one of a backup.
    init?(parsing text: String) {
        let lines = text.split(separator: "\n")
        for line in lines {
            if let comment = Self.rest(of: line, after: Self.lostMark) {
                lost.insert(String(comment))
            } else if let comment = Self.rest(of: line, after: Self.originMark) {
                origin = String(comment)
            } else if !line.hasPrefix("#") {
                let (digest, path) = (line.prefix(64), String(line.dropFirst(66)))
                guard digest.count == 64, digest.allSatisfy(\.isHexDigit), line.dropFirst(64).hasPrefix("  "),
                    BackupLayout.isFile(path)
                else { return nil }
                digests[path] = digest.lowercased()
            }
        }
        guard lines.last == Self.end(digests.count)[...] else { return nil }
    }

    var text: String {
        var lines = [Self.originMark + origin]
        lines += lost.sorted().map { Self.lostMark + $0 }
        lines += digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)" }
        lines.append(Self.end(digests.count))
        return lines.joined(separator: "\n") + "\n"
    }

    private static let originMark = "# A backup by "
    private static let lostMark = "# Lost before: "

    private static func end(_ count: Int) -> String { "# \(count) files" }

    private static func rest(of line: Substring, after mark: String) -> Substring? {
        line.hasPrefix(mark) ? line.dropFirst(mark.count) : nil
    }
}
