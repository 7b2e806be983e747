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

    /// Runs of five and more modules, and what looks like a finder pattern.
    private static func penalty(of line: [Bool]) -> Int {
        var runs: [Int] = []
        var result = 0
        for (index, module) in line.enumerated() {
            if index > 0, line[index - 1] == module { runs[runs.count - 1] += 1 } else { runs.append(1) }
        }
        for run in runs where run >= 5 { result += run - 2 }
        // What is around a code is light: a run at an end is as long as needed.
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
