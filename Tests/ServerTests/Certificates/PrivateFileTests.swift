import Foundation
import Server
import TestKit
import Testing

struct PrivateFileTests {
    private func mode(of url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test("a file is for its owner only, and replaces another one on request only")
    func replacing() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appending(path: "secret")
        let file = PrivateFile(at: url, Data("first".utf8))
        try file.write(replaces: false)
        let failure = #expect(throws: PrivateFile.Failure.self) { try file.write(replaces: false) }
        #expect(failure == .exists(url))
        #expect(try Data(contentsOf: url) == Data("first".utf8) && mode(of: url) == 0o600)
        try PrivateFile(at: url, Data("second".utf8), mode: 0o640).write(replaces: true)
        #expect(try Data(contentsOf: url) == Data("second".utf8) && mode(of: url) == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["secret"])
    }

    @Test("of files that belong together none is there if one cannot be written")
    func together() throws {
        let folder = try TemporaryFolder()
        let files = ["a", "none/b"].map { PrivateFile(at: folder.url.appending(path: $0), Data("x".utf8)) }
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.write(files, replaces: true) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
