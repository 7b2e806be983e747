import Media
import Screens

/// The query parameters that say how files become pages: `page`, `margin_mm`, `quality`.
struct PageParameters: Sendable, Equatable {
    /// Points in a millimetre.
    private static let point = 72 / 25.4
    /// Widest margin: half of an A5 page stays for the picture.
    private static let widestMargin = 35

    let pictures: PictureOptions

    /// Reads the parameters.
    ///
    /// - Throws: ``Problem``, 400.
    init(_ query: QueryItems, _ options: PDFApp.Options) throws {
        let paper = try Self.choice("page", query, PageLayout.Paper.fit)
        let margin = try query.integer("margin_mm", in: 0...Self.widestMargin) ?? 0
        pictures = PictureOptions(
            layout: PageLayout(paper, margin: Double(margin) * Self.point),
            quality: try Self.choice("quality", query, PictureOptions.Quality.original),
            keepsMetadata: options.keepsMetadata
        )
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ query: QueryItems,
        _ standard: Choice
    ) throws -> Choice {
        guard let text = try query.string(name) else { return standard }
        guard let choice = Choice(rawValue: text) else {
            let accepted = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.invalidParameter(name, accepted: "accepts one of \(accepted)")
        }
        return choice
    }
}
