/// A thing on a coloured ground whose form and colours follow from its name and the sandbox's seed.
enum ProductPicture {
    static let width = 400
    static let height = 300

    static func png(name: String, seed: UInt64) -> [UInt8] {
        let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let draw = { @Sendable (purpose: UInt64, bound: Int) in
            Int(SplitMix64.value(seed: seed ^ hash, index: purpose) % UInt64(bound))
        }
        let shade = { (purpose: UInt64, base: Int, range: Int) in UInt8(base + draw(purpose, range)) }
        let palette = [
            PNG.Color(red: shade(10, 200, 56), green: shade(11, 200, 56), blue: shade(12, 200, 56)),
            PNG.Color(red: shade(13, 20, 180), green: shade(14, 20, 180), blue: shade(15, 20, 180)),
            PNG.Color(red: shade(16, 120, 120), green: shade(17, 120, 120), blue: shade(18, 120, 120)),
        ]
        let (halfWidth, halfHeight) = (70 + draw(1, 90), 50 + draw(2, 70))
        // 1 is a lozenge, larger numbers come nearer to a rectangle.
        let roundness = 1 + draw(3, 4)
        let stripe = 8 + draw(4, 20)
        var pixels = [UInt8](repeating: 0, count: width * height)
        for row in height / 2 - halfHeight..<height / 2 + halfHeight {
            let rise = abs(row - height / 2) * 1000 / halfHeight
            var inset = 1000
            for _ in 0..<roundness { inset = inset * rise / 1000 }
            let reach = halfWidth * (1000 - inset) / 1000
            for column in width / 2 - reach..<width / 2 + reach {
                pixels[row * width + column] = (row + column) / stripe % 5 == 0 ? 2 : 1
            }
        }
        return PNG.encode(width: width, height: height, palette: palette, pixels: pixels)
    }
}
