/// The modules of a code while it is drawn.
struct QRModules: Sendable {
    let size: Int
    private(set) var dark: [Bool]
    /// Modules of patterns and of information on the format, which no mask changes.
    private var isFixed: [Bool]

    /// Draws the patterns of a version, and reserves the modules of the format.
    init(_ version: QRVersion) {
        size = version.size
        dark = [Bool](repeating: false, count: size * size)
        isFixed = dark
        for index in 0..<size {
            fix(6, index, index.isMultiple(of: 2))
            fix(index, 6, index.isMultiple(of: 2))
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        drawAlignment(version.alignment)
        draw(format: 0)
        if version.number >= 7 { draw(version: version.number) }
    }

    subscript(x: Int, y: Int) -> Bool { dark[y * size + x] }

    private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard 0..<size ~= x, 0..<size ~= y else { return }
        dark[y * size + x] = isDark
        isFixed[y * size + x] = true
    }

    // MARK: Patterns

    private mutating func drawFinder(_ x: Int, _ y: Int) {
        for dy in -4...4 {
            for dx in -4...4 {
                let distance = max(abs(dx), abs(dy))
                fix(x + dx, y + dy, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment(_ centres: [Int]) {
        guard let first = centres.first, let last = centres.last else { return }
        for y in centres {
            for x in centres where !([(first, first), (first, last), (last, first)].contains { $0 == (x, y) }) {
                for dy in -2...2 {
                    for dx in -2...2 { fix(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) }
                }
            }
        }
    }

    /// Draws a mask and level M, both copies.
    mutating func draw(format mask: Int) {
        // Level M is 00.
        let bits = (mask << 10 | Self.remainder(mask, generator: 0x537, degree: 10)) ^ 0x5412
        func isDark(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0..<15 {
            let first = index < 6 ? index : index < 8 ? index + 1 : size - 15 + index
            fix(8, first, isDark(index))
            let second = index < 8 ? size - 1 - index : index == 8 ? 7 : 14 - index
            fix(second, 8, isDark(index))
        }
        fix(8, size - 8, true)
    }

    private mutating func draw(version: Int) {
        let bits = version << 12 | Self.remainder(version, generator: 0x1F25, degree: 12)
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            fix(far, near, bits >> index & 1 == 1)
            fix(near, far, bits >> index & 1 == 1)
        }
    }

    /// Returns the check bits of a code by Bose, Chaudhuri and Hocquenghem.
    private static func remainder(_ value: Int, generator: Int, degree: Int) -> Int {
        (0..<degree).reduce(value) { rest, _ in rest << 1 ^ (rest >> (degree - 1)) * generator }
    }

    // MARK: Data

    /// Draws codewords: upwards and downwards in columns of two modules, from the right.
    mutating func draw(_ codewords: [UInt8]) {
        var bit = 0
        for (number, right) in columns.enumerated() {
            for step in 0..<size {
                let y = number.isMultiple(of: 2) ? size - 1 - step : step
                for x in [right, right - 1] where !isFixed[y * size + x] && bit < 8 * codewords.count {
                    dark[y * size + x] = codewords[bit / 8] >> (7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
        }
    }

    /// The right ones of the columns; the sixth belongs to the timing pattern.
    private var columns: [Int] {
        Array(stride(from: size - 1, to: 6, by: -2)) + stride(from: 5, to: 0, by: -2)
    }

    /// Inverts the modules of data that a mask names.
    mutating func apply(_ mask: QRMask) {
        for y in 0..<size {
            for x in 0..<size where !isFixed[y * size + x] && mask.inverts(x, y) { dark[y * size + x].toggle() }
        }
    }
}

/// One of the eight patterns that keep the data of a code from looking like something else.
struct QRMask: Sendable {
    /// 0 to 7.
    let number: Int

    static let all = (0..<8).map(QRMask.init)

    /// Whether the module in column `x` and row `y` is inverted.
    func inverts(_ x: Int, _ y: Int) -> Bool {
        switch number {
        case 0: (x + y).isMultiple(of: 2)
        case 1: y.isMultiple(of: 2)
        case 2: x.isMultiple(of: 3)
        case 3: (x + y).isMultiple(of: 3)
        case 4: (x / 3 + y / 2).isMultiple(of: 2)
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3).isMultiple(of: 2)
        default: ((x + y) % 2 + x * y % 3).isMultiple(of: 2)
        }
    }
}

extension QRModules {
    /// How hard the code is to read, by the rules of ISO/IEC 18004 §7.8.3.
    var penalty: Int {
        let rows = (0..<size).map { y in (0..<size).map { self[$0, y] } }
        let columns = (0..<size).map { x in (0..<size).map { self[x, $0] } }
        return (rows + columns).reduce(0) { $0 + Self.penalty(of: $1) } + squares + imbalance
    }

    /// Runs of five and more modules, and patterns that look like a finder.
    private static func penalty(of line: [Bool]) -> Int {
        var runs: [Int] = []
        var result = 0
        for (index, module) in line.enumerated() {
            if index > 0, line[index - 1] == module { runs[runs.count - 1] += 1 } else { runs.append(1) }
        }
        for run in runs where run >= 5 { result += run - 2 }
        // The surroundings of a code are light: a run at an end is as long as needed.
        let begins = line.first == true ? [0] + runs : runs
        let padded = line.last == true ? begins + [0] : begins
        for middle in stride(from: 3, to: padded.count - 3, by: 2) {
            let unit = padded[middle - 1]
            let isFinder = padded[middle] == 3 * unit && [-2, 1, 2].allSatisfy { padded[middle + $0] == unit }
            guard isFinder else { continue }
            let before = middle == 3 || padded[middle - 3] >= 4 * unit
            let after = middle + 4 == padded.count || padded[middle + 3] >= 4 * unit
            result += (before ? 40 : 0) + (after ? 40 : 0)
        }
        return result
    }

    /// Squares of four equal modules.
    private var squares: Int {
        var result = 0
        for y in 1..<size {
            for x in 1..<size where self[x, y] == self[x - 1, y] {
                if self[x, y] == self[x, y - 1], self[x, y] == self[x - 1, y - 1] { result += 3 }
            }
        }
        return result
    }

    /// How far from one half the dark modules are, in steps of 5 %.
    private var imbalance: Int {
        let (count, total) = (dark.count { $0 }, size * size)
        return abs(20 * count - 10 * total) / total * 10
    }
}
