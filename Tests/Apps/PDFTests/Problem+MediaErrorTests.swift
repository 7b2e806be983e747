import Media
import Screens
import Testing

@testable import PDF

@Suite struct ProblemMediaErrorTests {
    @Test("An error of a client's file names the file and its position")
    func named() throws {
        let problem = try #require(
            Problem(MediaError.OfInput(index: 1, error: .encrypted), titles: ["a.pdf", "b.pdf"])
        )
        let detail = Text("b.pdf is protected by a password.", ru: "b.pdf — файл защищён паролем.")
        #expect(problem.code == .encrypted && problem.detail == detail)
        #expect(problem.errors == [.field("/files/1", "encrypted", detail)])
    }

    @Test(
        "Every error that the client can act on has its problem",
        arguments: [
            (MediaError.damaged(""), ProblemCode.damaged), (.crashed(.vips, signal: 11), .damaged),
            (.encrypted, .encrypted), (.tooLarge(.bytes(limit: 1)), .tooLarge),
            (.tooLarge(.pixels(limit: 1)), .tooLarge),
            (.tooLarge(.memory(limit: 1)), .tooLarge), (.tooManyPages(limit: 1), .tooManyPages),
            (.timedOut(.vips), .timedOut), (.noGlyphs, .validationFailed), (.overloaded, .overloaded),
            (.toolMissing(.vips), .toolMissing), (.unsupported(""), .damaged),
            (.undecodable("HEIC"), .unsupportedMediaType),
            (.failed(.vips, ""), .processingUnavailable), (.unavailable(""), .processingUnavailable),
            (.storageFull(""), .storageFull),
        ]
    )
    func codes(error: MediaError, code: ProblemCode) {
        #expect(Problem(error)?.code == code)
        let named = Problem(MediaError.OfInput(index: 0, error: error), titles: ["a"])
        #expect(named?.code == (error == .unsupported("") ? .unsupportedMediaType : code))
    }

    @Test("PDF-18 a picture that the decoder is too old for is named as such, and not as damaged")
    func undecodable() throws {
        let problem = try #require(
            Problem(MediaError.OfInput(index: 0, error: .undecodable("HEIC")), titles: ["IMG_0876.HEIC"])
        )
        #expect(
            problem.detail.english
                == "IMG_0876.HEIC is of a kind of HEIC that this server cannot read; the file is not damaged."
        )
        #expect(problem.errors.first?.code == "unsupported-media-type")
    }

    @Test("An error that only the log can explain has none")
    func internalErrors() {
        let errors: [any Error] = [
            MediaError.noSuchPage(1), MediaError.unconfined(.soffice), CancellationError(),
        ]
        for error in errors { #expect(Problem(error, titles: ["a"]) == nil) }
    }
}
