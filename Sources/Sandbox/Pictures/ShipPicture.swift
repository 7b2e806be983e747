/// A drawing of a ship at sea whose colours and proportions follow from its name and the sandbox's seed.
enum ShipPicture {
    static let width = 320
    static let height = 200

    static func png(name: String, seed: UInt64) -> [UInt8] {
        let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        // A number below `bound` for each purpose.
        let draw = { @Sendable (purpose: UInt64, bound: Int) in
            Int(SplitMix64.value(seed: seed ^ hash, index: purpose) % UInt64(bound))
        }
        let palette = palette(draw)
        let length = 140 + draw(1, 100)
        let depth = 24 + draw(2, 20)
        let left = (width - length) / 2 + draw(3, 31) - 15
        let deck = 118 - depth
        let shapes: [Shape] = [
            Shape(color: 1, columns: 0..<width, rows: 118..<height),
            Shape(color: 2, columns: left..<left + length, rows: deck..<126, slant: 1),
            Shape(
                color: 3,
                columns: left..<left + length,
                rows: deck + depth / 2..<deck + depth / 2 + 5,
                slant: 1,
                inset: depth / 2
            ),
            Shape(
                color: 4,
                columns: left + length / 8..<left + length / 8 + 40 + draw(4, 25),
                rows: deck - 30 - draw(5, 15)..<deck
            ),
            Shape(color: 5, columns: left + length / 2..<left + length / 2 + 12, rows: deck - 24 - draw(6, 20)..<deck),
        ]
        var pixels = [UInt8](repeating: 0, count: width * height)
        for shape in shapes { shape.draw(on: &pixels) }
        return PNG.encode(width: width, height: height, palette: palette, pixels: pixels)
    }

    /// Sky, sea, hull, stripe, cabin, funnel.
    private static func palette(_ draw: @escaping @Sendable (UInt64, Int) -> Int) -> [PNG.Color] {
        let shade = { (purpose: UInt64, base: Int, range: Int) in UInt8(base + draw(purpose, range)) }
        return [
            PNG.Color(red: shade(10, 150, 60), green: shade(11, 190, 40), blue: shade(12, 225, 30)),
            PNG.Color(red: shade(13, 10, 40), green: shade(14, 70, 60), blue: shade(15, 110, 70)),
            PNG.Color(red: shade(16, 30, 190), green: shade(17, 30, 190), blue: shade(18, 30, 190)),
            PNG.Color(red: 255, green: shade(19, 180, 70), blue: shade(20, 0, 120)),
            PNG.Color(red: shade(21, 225, 30), green: shade(22, 225, 30), blue: shade(23, 215, 30)),
            PNG.Color(red: shade(24, 120, 120), green: shade(25, 40, 60), blue: shade(26, 30, 40)),
        ]
    }

    /// A rectangle whose sides come nearer by `slant` pixels a row, `inset` rows into the slant at its top.
    private struct Shape {
        let color: UInt8
        let columns: Range<Int>
        let rows: Range<Int>
        var slant = 0
        var inset = 0

        func draw(on pixels: inout [UInt8]) {
            for row in rows {
                let shift = slant * (row - rows.lowerBound + inset)
                let first = max(0, columns.lowerBound + shift)
                let last = min(width, columns.upperBound - shift)
                for column in first..<max(first, last) { pixels[row * width + column] = color }
            }
        }
    }
}
