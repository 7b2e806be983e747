import MediaFormats

/// The size and rotation of a page, from its dictionary (ISO 32000-1 7.7.3.3, 14.11.2).
struct PageGeometry: Equatable {
    /// US Letter, which readers assume for a page without a valid size.
    static let fallback = [0.0, 0, 612, 792]

    /// Width before rotation, in points.
    let width: Double
    /// Height before rotation, in points.
    let height: Double
    /// 0, 90, 180 or 270, clockwise.
    let rotation: Int

    init(mediaBox: [Double]?, cropBox: [Double]?, rotate: Int, userUnit: Double) {
        let media = Self.ordered(mediaBox) ?? Self.fallback
        let shown = Self.part(of: media, in: cropBox) ?? media
        let unit = userUnit.isFinite && userUnit > 0 && userUnit <= 75_000 ? userUnit : 1
        width = (shown[2] - shown[0]) * unit
        height = (shown[3] - shown[1]) * unit
        rotation = Self.normalized(rotate)
    }

    /// Whether a crop box has no part of the page: then readers show the whole page.
    static func isOutside(_ cropBox: [Double]?, of mediaBox: [Double]?) -> Bool {
        part(of: ordered(mediaBox) ?? fallback, in: cropBox) == nil
    }

    /// Returns the part of the media box that counts.
    private static func part(of media: [Double], in cropBox: [Double]?) -> [Double]? {
        let crop = ordered(cropBox) ?? media
        return ordered(
            [max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3])],
            keepingOrder: true
        )
    }

    /// The page as it is shown.
    var shown: PDFPage {
        let isTurned = rotation == 90 || rotation == 270
        return PDFPage(
            width: Self.rounded(isTurned ? height : width),
            height: Self.rounded(isTurned ? width : height),
            rotation: rotation
        )
    }

    /// Returns a multiple of 90 as 0, 90, 180 or 270, and 0 for any other number.
    static func normalized(_ degrees: Int) -> Int {
        let turn = degrees % 360
        return turn % 90 == 0 ? (turn + 360) % 360 : 0
    }

    /// Returns a box with its lower left corner first; nil if it has no area.
    private static func ordered(_ box: [Double]?, keepingOrder: Bool = false) -> [Double]? {
        guard let box, box.count == 4, box.allSatisfy({ $0.isFinite && abs($0) < 1e7 }) else { return nil }
        let ordered =
            keepingOrder ? box : [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]
        return ordered[2] > ordered[0] && ordered[3] > ordered[1] ? ordered : nil
    }

    /// Rounds to thousandths of a point; smaller parts are rounding errors.
    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
