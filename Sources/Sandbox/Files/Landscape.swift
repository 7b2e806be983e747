/// A view of mountains, a sun and water, drawn in blocks, whose colours and shapes follow from a seed. The same seed
/// gives the same view at every size, so a preview shows the same as its picture.
struct Landscape: Sendable, Hashable, Codable {
    let seed: UInt64

    func jpeg(width: Int, height: Int, comment: String = "") -> [UInt8] {
        let columns = (width + 7) / 8
        let rows = (height + 7) / 8
        let scene = Scenario(seed: seed)
        return JPEG.encode(width: width, height: height, comment: comment) { column, row in
            scene.color(x: Double(column) / Double(columns), y: Double(row) / Double(rows))
        }
    }

    /// Plain areas, for PNG.
    func png(width: Int, height: Int) -> [UInt8] {
        let scene = Scenario(seed: seed)
        var palette: [PNG.Color] = []
        var indices: [PNG.Color: UInt8] = [:]
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width / 8 {
                let color = scene.color(x: Double(column * 8) / Double(width), y: Double(row / 8 * 8) / Double(height))
                if indices[color] == nil, palette.count < 256 {
                    indices[color] = UInt8(palette.count)
                    palette.append(color)
                }
                pixels += repeatElement(indices[color] ?? 0, count: 8)
            }
        }
        return PNG.encode(width: width / 8 * 8, height: height, palette: palette, pixels: pixels)
    }

    private struct Scenario {
        private let sky: PNG.Color
        private let ground: PNG.Color
        private let water: PNG.Color
        private let peaks: [(x: Double, height: Double)]
        private let sun: (x: Double, y: Double)

        init(seed: UInt64) {
            let draw = { @Sendable (purpose: UInt64) in SplitMix64.unitInterval(seed: seed, index: purpose) }
            let shade = { @Sendable (purpose: UInt64, base: Double, range: Double) in
                UInt8(base + draw(purpose) * range)
            }
            sky = PNG.Color(red: shade(0, 110, 120), green: shade(1, 140, 90), blue: shade(2, 180, 70))
            ground = PNG.Color(red: shade(3, 30, 120), green: shade(4, 60, 110), blue: shade(5, 30, 80))
            water = PNG.Color(red: shade(6, 10, 50), green: shade(7, 60, 80), blue: shade(8, 110, 110))
            peaks = (0..<3).map { (draw(9 + 2 * $0), 0.2 + 0.35 * draw(10 + 2 * $0)) }
            sun = (0.15 + 0.7 * draw(20), 0.1 + 0.2 * draw(21))
        }

        /// - Parameters x, y: 0..<1 from the left and the top.
        func color(x: Double, y: Double) -> PNG.Color {
            if y > 0.72 { return water.lighter(by: Int(60 * (y - 0.72))) }
            if peaks.contains(where: { 0.72 - $0.height + abs(x - $0.x) * 1.3 < y }) {
                return ground.lighter(by: Int(50 * (0.72 - y)))
            }
            if (x - sun.x) * (x - sun.x) + (y - sun.y) * (y - sun.y) < 0.008 {
                return PNG.Color(red: 255, green: 236, blue: 140)
            }
            return sky.lighter(by: Int(50 * y))
        }
    }
}

extension PNG.Color {
    func lighter(by amount: Int) -> PNG.Color {
        let add = { (value: UInt8) in UInt8(min(255, Int(value) + amount)) }
        return PNG.Color(red: add(red), green: add(green), blue: add(blue))
    }
}
