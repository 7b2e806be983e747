package import Foundation

extension PDFTool {
    /// Typesets text on A4 pages; right-to-left paragraphs are aligned right. Characters that no installed font has are
    /// left out and listed in the summary.
    ///
    /// - Parameters:
    ///   - text: paragraphs separated by line breaks.
    ///   - locale: BCP 47 language tag, such as `ja`, by which fonts select the shapes of letters.
    /// - Throws: ``MediaError``: `tooLarge(.text)`, `tooManyPages`, `timedOut`, `toolMissing`, `overloaded`, `crashed`,
    ///   `failed`, `noGlyphs`.
    package func textPages(
        _ text: String,
        locale: String? = nil,
        title: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        guard text.utf8.count <= bench.limits.textBytes else {
            throw MediaError.tooLarge(.text(limit: bench.limits.textBytes))
        }
        return try await bench.withFolder { folder in
            let output = folder.path("out.pdf")
            let job = PDFJob.Text(
                text: text,
                locale: locale,
                title: title,
                output: output,
                maximumPages: bench.limits.textPages
            )
            let summary = try await work(
                .text(job),
                in: folder,
                isShort: text.utf8.count <= Self.shortText,
                progress: progress
            )
            try FinishedFile.move(output, to: destination)
            return summary
        }
    }

    /// Bytes of a text whose work is short.
    private static let shortText = 16 << 10

    /// Returns the characters of a text that no installed font has.
    ///
    /// - Throws: ``MediaError``.
    package func missingGlyphs(in text: String) async throws -> [String] {
        try await bench.withFolder { folder in
            try await work(.glyphs(text: text), in: folder, isShort: true, progress: nil).missingGlyphs
        }
    }
}
