/// A drawing of a robot's head whose colours and face follow from a text and the sandbox's seed.
enum RobotPicture {
    /// - Parameter side: Width and height in pixels, at least 1.
    static func png(text: String, side: Int, seed: UInt64) -> [UInt8] {
        let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let draw = { (purpose: UInt64, bound: Int) in
            Int(SplitMix64.value(seed: seed ^ hash, index: purpose) % UInt64(bound))
        }
        let shade = { (purpose: UInt64, base: Int, range: Int) in UInt8(base + draw(purpose, range)) }
        let palette = [
            PNG.Color(red: 245, green: 245, blue: 245),
            PNG.Color(red: shade(1, 60, 180), green: shade(2, 60, 180), blue: shade(3, 60, 180)),
            PNG.Color(red: 255, green: shade(4, 200, 55), blue: shade(5, 0, 160)),
            PNG.Color(red: 40, green: 40, blue: 48),
        ]
        let (eyes, mouth, antenna) = (32 + draw(6, 14), 66 + draw(7, 10), 20 + draw(8, 60))
        let grin = 10 + draw(9, 20)
        var pixels = [UInt8](repeating: 0, count: side * side)
        for row in 0..<side {
            for column in 0..<side {
                // In hundredths of the side.
                let (x, y) = (column * 100 / side, row * 100 / side)
                pixels[row * side + column] =
                    switch true {
                    case abs(x - 30) < 8 && abs(y - eyes) < 7 || abs(x - 70) < 8 && abs(y - eyes) < 7: 2
                    case abs(x - 50) < grin && abs(y - mouth) < 4: 3
                    case (12..<88).contains(x) && (18..<90).contains(y): 1
                    case abs(x - antenna) < 3 && y < 18: 3
                    default: 0
                    }
            }
        }
        return PNG.encode(width: side, height: side, palette: palette, pixels: pixels)
    }
}
