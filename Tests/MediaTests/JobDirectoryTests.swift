import Foundation
import Testing

@testable import Media

@Suite struct JobDirectoryTests {
    private func permissions(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("TRUST-14 files of a job are its owner's only, and are removed with the job")
    func ownersOnly() async throws {
        let scratch = try Scratch()
        let path = try await JobDirectory.lend(below: scratch.url("work").path) { folder in
            let file = try folder.write(Data("private".utf8), as: "in.jpg")
            #expect(try permissions(of: folder.path) == 0o700)
            #expect(try permissions(of: file) == 0o600)
            return folder.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("TRUST-09 a folder is full if its file system has no room")
    func room() throws {
        #expect(JobDirectory(path: "/proc").isFull)
        #expect(!JobDirectory(path: try Scratch().folder.path).isFull)
    }
}

@Suite struct FinishedFileTests {
    @Test("TRUST-26 a link in place of a result is not taken, and changes nothing at the destination")
    func link() throws {
        let scratch = try Scratch()
        _ = try scratch.write("private".utf8, to: "private")
        let destination = try scratch.write("before".utf8, to: "document.pdf")
        let result = scratch.url("out.pdf")
        try FileManager.default.createSymbolicLink(at: result, withDestinationURL: scratch.url("private"))
        #expect(throws: CocoaError.self) { try FinishedFile.move(result.path, to: destination) }
        #expect(try String(contentsOf: destination, encoding: .utf8) == "before")
    }
}
