import HTTP

/// The size of a small picture in one of the API's spellings.
struct PreviewSize: Sendable, Equatable {
    /// `S`, `XL`, `120x120`, `128x`, …
    let text: String
    /// Whether width and height are both given, so that the picture is cropped.
    let isCropped: Bool

    static let standard = PreviewSize(text: "120x120", isCropped: true)

    /// Parses a size; nil if it is malformed or larger than a screen needs.
    init?(_ text: String) {
        if ["S", "M", "L", "XL", "XXL", "XXXL", "XXXS", "XXS", "XS"].contains(text) {
            self.init(text: text, isCropped: false)
            return
        }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        let numbers = sides.map { side in side.isDigits ? Int(side) : nil }
        guard sides.count <= 2,
            zip(sides, numbers).allSatisfy({ $0.isEmpty ? sides.count == 2 : (1...2000).contains($1 ?? 0) }),
            text != "x", !text.isEmpty
        else { return nil }
        self.init(text: text, isCropped: sides.count == 2 && !sides.contains(""))
    }

    private init(text: String, isCropped: Bool) {
        self.text = text
        self.isCropped = isCropped
    }

    /// Largest width and height in pixels. The letters are those of the API.
    var pixels: (width: Int, height: Int) {
        let letters = [
            "XXXS": 50, "XXS": 75, "XS": 100, "S": 150, "M": 300, "L": 500, "XL": 800, "XXL": 1024, "XXXL": 1280,
        ]
        if let side = letters[text] { return (side, side) }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        let width = sides.first ?? nil
        let height = sides.count > 1 ? sides[1] : width
        return (width ?? 2000, height ?? 2000)
    }
}
