/// A `Range` field of one range (RFC 9110 section 14.2); several, and other units, mean the whole.
enum RequestedRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    init(_ field: String?, of size: Int) {
        self = .whole
        guard let field, field.hasPrefix("bytes="), !field.contains(",") else { return }
        let sides = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return }
        switch (Int(sides[0]), Int(sides[1])) {
        case (let first?, nil) where sides[1].isEmpty: self = first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (nil, let count?) where sides[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        default: return
        }
    }
}
