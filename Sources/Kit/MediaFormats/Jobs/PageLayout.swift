/// The size of a page and the position of its picture.
public enum PageLayout: String, Codable, Sendable, CaseIterable {
    /// The page has the picture's proportions; a pixel is at most a point (1/72 inch), and the longer side is at most
    /// that of A4.
    case fit
    /// ISO 216 A4, upright or lying as the picture is, which is scaled to fit and centred.
    case a4
}
