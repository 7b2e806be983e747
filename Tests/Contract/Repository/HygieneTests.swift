import Foundation
import Testing

/// The repository is understood by itself.
@Suite struct HygieneTests {
    /// All text files of ours but this one, which names what is looked for.
    private static var files: [String] {
        let folders = ["Sources", "Tests", "docs", "script", "docker", ".ci"]
        let files = ["Package.swift", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "openapi.yaml"]
        let own = URL(filePath: #filePath).lastPathComponent
        let found = folders.flatMap { folder in Repository.files(in: folder).map { "\(folder)/\($0)" } }
        return found.filter { !$0.hasSuffix(own) }
            + files.filter { FileManager.default.fileExists(atPath: Repository.root.appending(path: $0).path) }
    }

    /// Files that were longer before this test. Nothing is added here; what is resolved is taken out.
    private static let knownLong: Set<String> = [
        "Sources/Apps/Disk/DiskService+Lists.swift", "Sources/Kit/Screens/Connection/ConnectionState.swift",
    ]

    @Test("No line points to a document outside of the repository")
    func pointers() throws {
        let pointer = #/design/\w+\.md|\bupstreams/[\w-]+\.md|\bfindings/[\w-]+\.md|\.\./shared\b|/work//#
        // Spares the expression most lines.
        let parts = ["design/", "upstreams/", "findings/", "../shared", "/work/"]
        for file in Self.files {
            guard let text = try? Repository.text(file), parts.contains(where: text.contains) else { continue }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            for (number, line) in lines where parts.contains(where: { line.contains($0) }) {
                // Intermittent as long as some are left: then this goes.
                withKnownIssue(isIntermittent: true) {
                    #expect(!line.contains(pointer), "\(file):\(number + 1)")
                }
            }
        }
    }

    @Test("The links of the documents lead to files of the repository")
    func links() throws {
        for file in Self.files where file.hasSuffix(".md") {
            let folder = URL(filePath: "/\(file)").deletingLastPathComponent()
            for link in try Repository.text(file).matches(of: #/\]\((?!https?:|mailto:|\#)(?<path>[^)#\s]+)/#) {
                let path = folder.appending(path: String(link.path)).standardized.path
                let isThere = FileManager.default.fileExists(atPath: Repository.root.path + path)
                #expect(isThere, "\(file): \(link.path)")
            }
        }
    }

    @Test("No source file has more than 300 lines")
    func lengths() throws {
        for file in Self.files
        where file.hasPrefix("Sources/") && file.hasSuffix(".swift") && !Self.knownLong.contains(file) {
            let count = try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect(count <= 300, "\(file) has \(count) lines")
        }
    }
}
