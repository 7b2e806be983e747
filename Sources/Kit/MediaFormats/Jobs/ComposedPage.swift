/// One page of a composed document.
package struct ComposedPage: Codable, Sendable, Hashable {
    /// Position of the document among the sources, from 0.
    package var source: Int
    /// Number of its page, from 1.
    package var page: Int
    /// Degrees clockwise that are added to the rotation of the page: a multiple of 90, which may be negative.
    package var rotateBy: Int

    /// Creates a page of the only source, or of one of several.
    package init(source: Int = 0, page: Int, rotateBy: Int = 0) {
        self.source = source
        self.page = page
        self.rotateBy = rotateBy
    }
}
