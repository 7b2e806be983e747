import Foundation
import Testing

@testable import Media

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
