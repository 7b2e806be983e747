import Foundation
import Subprocess
import TestKit
import Testing

@testable import Media

/// Number of mutated photos; script/check-pdf asks for 2,000.
private let mutations = ProcessInfo.processInfo.environment["PDF_MUTATIONS"].flatMap { Int($0) } ?? 24

@Suite(.timeLimit(.minutes(mutations > 60 ? 60 : 5))) struct PDFToolPicturesImportTests {
    /// Whether `vips` says of a photo that parts of it are missing or cannot be decoded.
    private func isRefusedByVips(_ file: URL, _ scratch: Scratch) async throws -> Bool {
        let arguments = ["thumbnail", file.path, scratch.url("small.png").path, "64", "--fail-on", "truncated"]
        let result = try await run(
            .name("vips"),
            arguments: Arguments(arguments),
            output: .discarded,
            error: .string(limit: 1 << 20)
        )
        let losses = ["premature end of data segment", "bad Huffman code"]
        let errors = result.standardError
        return !result.terminationStatus.isSuccess || losses.contains { errors.contains($0) }
    }

    private func mutated(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        let place = Int.random(in: 20..<bytes.count - 60, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes = Array(bytes[..<place])
        case 1: bytes.removeSubrange(place..<place + 50)
        case 2: bytes.replaceSubrange(place..<place + 50, with: [UInt8](repeating: 0, count: 50))
        case 3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: bytes.insert(contentsOf: (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }, at: place)
        }
        return bytes.suffix(2) == [0xFF, 0xD9] ? bytes : bytes + [0xFF, 0xD9]
    }

    @Test("PDF-04 TRUST-11 of damaged photos every one is refused that vips refuses, and whole ones are accepted")
    func damagedPhotos() async throws {
        let scratch = try Scratch()
        var random = SeededRandom(seed: 98)
        var photos: [[UInt8]] = []
        for name in ["a.jpg", "b.jpg[interlace]", "c.jpg[optimize-coding,subsample-mode=off]"] {
            let file = try await scratch.picture(.gradient(240, 160), name)
            photos.append(Array(try Data(contentsOf: file)))
            _ = try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("whole.pdf"))
        }
        for number in 0..<mutations {
            let photo = mutated(photos[number % photos.count], &random)
            let file = try scratch.write(photo, to: "bad.jpg")
            guard try await isRefusedByVips(file, scratch) else { continue }
            await #expect(throws: MediaError.OfInput.self, "photo \(number)") {
                try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("none.pdf"))
            }
        }
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("PDF-04 a photo in several scans is refused if it ends within a table, whose last byte takes the end marker")
    func endInTable() async throws {
        let scratch = try Scratch()
        let photo = Array(try Data(contentsOf: try await scratch.picture(.gradient(240, 160), "a.jpg[interlace]")))
        let table = try #require(photo.indices.dropLast(4).last { photo[$0] == 0xFF && photo[$0 + 1] == 0xC4 })
        let end = table + 2 + Int(photo[table + 2]) << 8 + Int(photo[table + 3])
        let file = try scratch.write(photo[..<(end - 1)] + [0xFF, 0xD9], to: "bad.jpg")
        await #expect(throws: MediaError.OfInput.self) {
            try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("none.pdf"))
        }
    }

    @Test("PDF-04 of several broken photos the first is named, and nothing is written") func first() async throws {
        let scratch = try Scratch()
        let good = try await scratch.picture(.gradient(400, 300), "good.jpg")
        let whole = Array(try Data(contentsOf: good))
        let late = try scratch.write(whole[..<(whole.count - 40)] + [0xFF, 0xD9], to: "late.jpg")
        let files = [good, good, late, good, late, late].map { PictureSource.file($0) }
        await #expect(
            throws: MediaError.OfInput(index: 2, error: .damaged("data of the JPEG are missing or broken"))
        ) {
            try await scratch.engine.documents.pages(of: files, to: scratch.url("none.pdf"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("none.pdf").path))
    }
}
