/// The size of a page of a picture, and the position of the picture on it.
package struct PageLayout: Codable, Sendable, Equatable {
    /// The size of a page.
    package enum Paper: String, Codable, Sendable, CaseIterable {
        /// The page has the picture's proportions; a pixel is at most a point (1/72 inch), and the longer side is at
        /// most that of A4.
        case fit
        /// ISO 216, upright or lying as the picture is, which is scaled to fit and centred.
        case a4, a5, a3
        /// US Letter and US Legal; likewise.
        case letter, legal
    }

    /// The size of the page.
    package var paper: Paper
    /// White on each side of the picture, in points.
    package var margin: Double

    /// Creates a layout.
    package init(_ paper: Paper, margin: Double = 0) {
        self.paper = paper
        self.margin = margin
    }

    /// A page as large as its picture.
    package static let fit = PageLayout(.fit)
    /// A4 without margins.
    package static let a4 = PageLayout(.a4)
}
