import Foundation
import Testing

@testable import Media

@Suite struct RenderedPictureTests {
    @Test("a file that a tool has cut is no picture, whatever the tool reported") func cut() async throws {
        let scratch = try Scratch()
        for name in ["a.png", "a.jpg"] {
            let file = try await scratch.picture(.quadrants(), name)
            let whole = try RenderedPicture(file: file.path)
            for length in [whole.data.count - 1, whole.data.count / 2] {
                let cut = try scratch.write(Array(whole.data.prefix(length)), to: "cut-\(length)-\(name)")
                #expect(throws: (any Error).self, "\(name), \(length) bytes") { try RenderedPicture(file: cut.path) }
            }
        }
    }
}
