import Foundation
import TestKit
import Testing

/// `larder gallery` (docs/harness.md).
@Suite(.timeLimit(.minutes(5))) struct GalleryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func shown(_ name: String) throws -> String {
        try String(contentsOf: folder.url.appending(path: "shown/\(name)"), encoding: .utf8)
    }

    @Test("HARN-39 each screen is written in each state: URL, response, picture, and a page with all of them")
    func gallery() async throws {
        // Writes the notes that the browser would show.
        let browser = """
            #!/bin/sh
            for word; do
              case $word in --screenshot=*) file=${word#*=} ;; http*) url=$word ;; esac
            done
            curl -s "${url%/[a-z]*}/v1/notes" > "$file"
            """
        let program = folder.url.appending(path: "chromium-headless-shell")
        try Data(browser.utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
        let process = RunningProcess(
            ["gallery", "\(folder.path)/shown", "--matrix", "offline,401", "--screenshot"],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin"]
        )
        #expect(await process.ended() == 0, "\(process.output)\(process.log)")
        #expect(process.output.contains(" screens in 6 states, "), "\(process.output)")

        let fresh = try shown("listShips/fresh.json")
        #expect(fresh.contains(#""url": "/v1/ships""#) && fresh.contains(#""status": 200"#))
        #expect(try shown("listShips/offline.json").contains("detail=unreachable"))
        #expect(try shown("listShopCategories/offline.json").contains(#""status": 200"#))
        #expect(try shown("listShips/offline-new.json").contains(#""source": "bundled""#))
        #expect(try shown("listShips/401.json").contains(#""code": "session-expired""#))
        // The address of a thing is that of a link, in every state.
        #expect(try shown("getNote/fresh.json").contains("Museum"))
        #expect(try shown("getNote/new.json").contains(#""status": 404"#))
        #expect(try shown("getDiskFile/fresh.json").contains(#""status": 200"#))
        // The page of a browser has the sessions.
        #expect(try shown("listNotes/fresh.png").contains("Milk"))
        #expect(try shown("listNotes/401.png").contains("session-expired"))

        let index = try shown("index.html")
        #expect(index.contains(#"<a href="listShips/offline.json">200 unreachable</a>"#), "\(index)")
        #expect(index.contains(#"<img src="listShips/fresh.png""#) && !index.contains("with Chromium on the path"))
    }

    @Test("HARN-39 a signal ends a gallery that is being written, which has no page then")
    func interrupted() async throws {
        let program = folder.url.appending(path: "chromium-headless-shell")
        try Data("#!/bin/sh\necho browsing > /proc/$PPID/fd/2\nexec sleep 60\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
        let process = RunningProcess(
            ["gallery", "\(folder.path)/shown", "--matrix", "offline", "--screenshot"],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin"]
        )
        try await process.logged("browsing")
        process.signal(SIGINT)
        #expect(await process.ended() == 1, "\(process.log)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/shown/index.html"))
    }

    @Test("HARN-39 without a folder there is no gallery, and a condition that is none is refused")
    func refused() async throws {
        #expect(await RunningProcess(["gallery"]).ended() == 64)
        for matrix in ["slowly", "offline,offline", "error(503),error(503 )", "new"] {
            #expect(await RunningProcess(["gallery", "\(folder.path)/none", "--matrix", matrix]).ended() == 64)
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none"))
    }

    @Test("HARN-39 pictures are refused before the server starts if there is no Chromium")
    func noBrowser() async throws {
        let process = RunningProcess(
            ["gallery", "\(folder.path)/none", "--screenshot"],
            environment: ["PATH": folder.path]
        )
        #expect(await process.ended() == 1)
        #expect(process.log.contains("there is no Chromium on the path"), "\(process.log)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none"))
    }

    @Test("HARN-39 a gallery and a scenario, whose servers are filled and reset, refuse a data directory")
    func ownData() async throws {
        let scenario = "\(folder.path)/a.yaml"
        try Data("steps:\n  - do: {reset: true}\n".utf8).write(to: URL(filePath: scenario))
        for command in [["gallery", "\(folder.path)/none"], ["scenario", "run", scenario]] {
            let process = RunningProcess(command + ["--data-directory", "\(folder.path)/real"])
            #expect(await process.ended() == 78)
            #expect(process.log.contains("leave data.directory unset"), "\(process.log)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/real"))
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none"))
    }
}
