import Testing

/// A reader finds a file by its folder, and understands a folder without those that use it.
@Suite struct FolderTests {
    @Test("A module above 40 files has folders, and no folder has more than 25 files of its own")
    func sizes() async throws {
        for target in try await PackageManifest.load().targets where target.folder.hasPrefix("Sources/") {
            let files = Repository.files(in: target.folder, suffixes: [".swift"])
            guard files.count > 40 else { continue }
            let folders = Dictionary(grouping: files) { $0.split(separator: "/").dropLast().joined(separator: "/") }
            for (folder, files) in folders {
                #expect(files.count <= 25, "\(target.folder)/\(folder) has \(files.count) files")
            }
        }
    }

    @Test("No folders of a module use each other")
    func cycles() async throws {
        for target in try await PackageManifest.load().targets where target.folder.hasPrefix("Sources/") {
            #expect(try FolderGraph(target.folder).cycles.isEmpty, "\(target.folder)")
        }
    }

    @Test("Cycles are found by the names of types, in code only")
    func planted() {
        let sources = [
            ("Routing/Route.swift", "public struct Route {\n    let table: Table?\n}"),
            ("Mounts/Table.swift", "struct Table {\n    // Session\n    let routes: [Route]\n}"),
            ("Sessions/Session.swift", "final class Session { let text = \"Table\" }"),
            ("Program.swift", "@main enum Program { let session: Session, route: Route }"),
        ]
        let graph = FolderGraph(sources: sources.map { ($0.0, SwiftSource($0.1)) })
        #expect(graph.arrows["Program.swift"] == ["Routing", "Sessions"])
        #expect(graph.cycles == [["Mounts", "Routing"]])
    }
}
