import Testing

@testable import Screens

@Suite struct MediaTypeTests {
    @Test("Text is worth compressing, pictures are not")
    func types() {
        for type in [MediaType.json, MediaType.problem, "text/html", "IMAGE/SVG+XML", "application/javascript"] {
            #expect(MediaType.isCompressible(type))
        }
        for type in ["image/png", "application/zip", "application/pdf", "video/mp4", ""] {
            #expect(!MediaType.isCompressible(type))
        }
    }
}
