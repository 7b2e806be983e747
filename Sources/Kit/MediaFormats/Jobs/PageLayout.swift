/// How a picture lies on its page.
public enum PageLayout: String, Codable, Sendable, CaseIterable {
    /// The page has the picture's proportions; a pixel is at most a point (1/72 inch), and the longer side no longer
    /// than that of A4.
    case fit
    /// A4, upright or across as the picture is, which is as large as fits and in the middle.
    case a4
}
