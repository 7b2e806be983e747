/// A place that a write touches, in a tree of places.
public protocol OutboxPlace: Hashable, Sendable {
    /// The places that contain it, without itself, and without one that contains all.
    var above: [Self] { get }
}

/// Which operations touch a place. An answer takes as many steps as it has operations, and as the place has places
/// above it, however many operations there are.
struct OutboxPlaces<Place: OutboxPlace>: Sendable {
    private var exact: [Place: Set<Int64>] = [:]
    private var below: [Place: Set<Int64>] = [:]

    mutating func insert(_ number: Int64, _ places: [Place]) {
        for place in places {
            exact[place, default: []].insert(number)
            for above in place.above { below[above, default: []].insert(number) }
        }
    }

    /// Removes an operation with all of its places.
    mutating func remove(_ number: Int64, _ places: [Place]) {
        for place in places {
            Self.remove(number, from: &exact[place])
            for above in place.above { Self.remove(number, from: &below[above]) }
        }
    }

    private static func remove(_ number: Int64, from numbers: inout Set<Int64>?) {
        numbers?.remove(number)
        if numbers?.isEmpty == true { numbers = nil }
    }

    /// Returns the operations that touch a place, or one below it.
    func inside(_ place: Place) -> Set<Int64> { (exact[place] ?? []).union(below[place] ?? []) }

    /// Returns the operations that touch a place above one.
    func above(_ place: Place) -> Set<Int64> {
        place.above.reduce(into: []) { $0.formUnion(exact[$1] ?? []) }
    }

    /// Returns the operations that touch one of several places, one above or one below.
    func touching(_ places: [Place]) -> Set<Int64> {
        places.reduce(into: []) { $0.formUnion(inside($1).union(above($1))) }
    }

    /// Whether an operation touches one of several places, one above or one below.
    func isTouched(_ places: [Place]) -> Bool {
        places.contains { place in
            exact[place] != nil || below[place] != nil || place.above.contains { exact[$0] != nil }
        }
    }
}
