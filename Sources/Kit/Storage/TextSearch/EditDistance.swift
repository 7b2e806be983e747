/// Whether two words differ by one typing error.
enum EditDistance {
    /// Whether the second word is made of the first by one letter that is changed, missing or added, or by two
    /// neighbours in the other order (a distance of Damerau and Levenshtein of one). Takes time of one comparison.
    static func isOne(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Bool {
        guard abs(one.count - other.count) <= 1 else { return false }
        let shorter = min(one.count, other.count)
        var start = 0
        while start < shorter, one[start] == other[start] { start += 1 }
        var end = 0
        while end < shorter - start, one[one.count - 1 - end] == other[other.count - 1 - end] { end += 1 }
        let rest = (one.count - start - end, other.count - start - end)
        switch rest {
        case (1, 1), (0, 1), (1, 0): return true
        case (2, 2): return one[start] == other[start + 1] && one[start + 1] == other[start]
        default: return false
        }
    }
}
