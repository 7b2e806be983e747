/// One page of a composed document.
public struct ComposedPage: Codable, Sendable, Hashable {
    /// Which document, from 0, in the order in which they are given.
    public var source: Int
    /// Which page of it, from 1.
    public var page: Int
    /// Degrees by which it is turned clockwise beside how it is turned already: a multiple of 90, negative ones too.
    public var rotateBy: Int

    /// A page of the only document, or of one of several.
    public init(source: Int = 0, page: Int, rotateBy: Int = 0) {
        self.source = source
        self.page = page
        self.rotateBy = rotateBy
    }
}
