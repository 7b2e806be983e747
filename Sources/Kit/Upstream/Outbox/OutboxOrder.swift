/// Determines which operations of an account can be sent: their order, and which of them hold up others.
///
/// Operations run one at a time in their order. One that lets others pass holds up only those that touch the same
/// places, or places above or below, and those that touch theirs. An operation that was refused has no effect until the
/// user has decided, and neither have those that touch its places. A change takes as many steps as operations are held
/// up by it; the queue is never searched.
struct OutboxOrder<Path: OutboxPath>: Sendable {
    private var index = OutboxIndex<Path>()
    private var held = OutboxHolds()
    private var suspended = OutboxHolds()
    private(set) var ready = SortedElements<Int64>(by: <)
    /// Number of operations that were examined so far.
    var steps: Int { held.steps + suspended.steps }

    /// The first two operations that may run, if they are due.
    var first: ArraySlice<Int64> { Array(ready.elements.prefix(2))[...] }

    /// Whether an earlier operation holds up one.
    func isHeldUp(_ number: Int64) -> Bool { held.isFollower(number) }

    /// Whether an operation has no effect: it was refused, or touches the places of an earlier one that has none.
    func isSuspended(_ number: Int64) -> Bool { suspended.contains(number) }

    /// Adds an operation, or changes it.
    ///
    /// - Parameters:
    ///   - letsOthersPass: Whether it holds up only those that touch the same places.
    ///   - isRefused: Whether it has no effect until the user has decided.
    /// - Returns: The operations that may have an effect now and had none before, or the other way round.
    @discardableResult
    mutating func put(_ number: Int64, _ places: [Path], letsOthersPass: Bool, isRefused: Bool = false)
        -> [Int64]
    {
        var changed: [Int64] = []
        if index.touched[number] != places {
            changed = remove(number)
            index.insert(number, places)
            ready.insert(number)
            update(held.insert(number, index))
            changed += suspended.insert(number, index)
        }
        update(held.set(number, letsOthersPass, index))
        return changed + suspended.set(number, isRefused, index)
    }

    /// Removes an operation.
    ///
    /// - Returns: The operations that may have an effect now and had none before.
    @discardableResult
    mutating func remove(_ number: Int64) -> [Int64] {
        update(held.remove(number, index))
        let changed = suspended.remove(number, index)
        ready.remove(number)
        index.remove(number)
        return changed
    }

    /// Returns the operations that touch one of several places, one above or one below, in order.
    func touching(_ places: [Path]) -> [Int64] { index.places.touching(places).sorted() }

    /// Whether an operation touches one of several places, one above or one below.
    func isTouched(_ places: [Path]) -> Bool { index.places.isTouched(places) }

    /// Returns the operations that touch a place, or one below it.
    func inside(_ place: Path) -> Set<Int64> { index.places.inside(place) }

    /// Returns the operations that touch a place above one.
    func above(_ place: Path) -> Set<Int64> { index.places.above(place) }

    private mutating func update(_ changed: [Int64]) {
        for number in changed {
            if held.contains(number) { ready.remove(number) } else { ready.insert(number) }
        }
    }
}

/// The places of operations, both ways.
private struct OutboxIndex<Path: OutboxPath>: Sendable {
    private(set) var places = OutboxPaths<Path>()
    private(set) var touched: [Int64: [Path]] = [:]

    mutating func insert(_ number: Int64, _ places: [Path]) {
        touched[number] = places
        self.places.insert(number, places)
    }

    mutating func remove(_ number: Int64) {
        if let places = touched.removeValue(forKey: number) { self.places.remove(number, places) }
    }

    func neighbours(of number: Int64) -> Set<Int64> { places.touching(touched[number] ?? []) }
}

/// Operations that something stops, each with the later ones that touch its places, and so on.
///
/// Functions return the operations that are stopped now and were not before, or the other way round.
private struct OutboxHolds: Sendable {
    /// Those that are stopped by themselves.
    private var sources: Set<Int64> = []
    /// How many earlier operations stop one; none that no other stops.
    private var holders: [Int64: Int] = [:]
    private(set) var steps = 0

    func contains(_ number: Int64) -> Bool { sources.contains(number) || holders[number] != nil }

    /// Whether an earlier operation stops one.
    func isFollower(_ number: Int64) -> Bool { holders[number] != nil }

    mutating func insert<Path>(_ number: Int64, _ index: OutboxIndex<Path>) -> [Int64] {
        // Without a source none is stopped.
        guard !sources.isEmpty else { return [] }
        let count = index.neighbours(of: number).count { $0 < number && contains($0) }
        guard count > 0 else { return [] }
        holders[number] = count
        return changed(number, index)
    }

    mutating func set<Path>(_ number: Int64, _ isSource: Bool, _ index: OutboxIndex<Path>) -> [Int64] {
        guard sources.contains(number) != isSource else { return [] }
        if isSource { sources.insert(number) } else { sources.remove(number) }
        return isFollower(number) ? [] : changed(number, index)
    }

    mutating func remove<Path>(_ number: Int64, _ index: OutboxIndex<Path>) -> [Int64] {
        guard contains(number) else { return [] }
        sources.remove(number)
        holders[number] = nil
        return changed(number, index)
    }

    /// Stops later operations, or releases them, after one is stopped or not stopped any more.
    private mutating func changed<Path>(_ number: Int64, _ index: OutboxIndex<Path>) -> [Int64] {
        var (changed, open) = ([number], [number])
        while let number = open.popLast() {
            let isStopped = contains(number)
            let later = index.neighbours(of: number)
            steps += later.count
            for later in later where later > number {
                let wasStopped = contains(later)
                let count = (holders[later] ?? 0) + (isStopped ? 1 : -1)
                holders[later] = count > 0 ? count : nil
                guard contains(later) != wasStopped else { continue }
                changed.append(later)
                open.append(later)
            }
        }
        return changed
    }
}

/// A place that a write touches, in a tree of places.
package protocol OutboxPath: Hashable, Sendable {
    /// The places that contain it, without itself, and without one that contains all.
    var above: [Self] { get }
}

/// Which operations touch a place. A look-up takes as many steps as it finds operations, and as the place has places
/// above it, however many operations there are.
struct OutboxPaths<Path: OutboxPath>: Sendable {
    private var exact: [Path: Set<Int64>] = [:]
    private var below: [Path: Set<Int64>] = [:]

    mutating func insert(_ number: Int64, _ places: [Path]) {
        for place in places {
            exact[place, default: []].insert(number)
            for above in place.above { below[above, default: []].insert(number) }
        }
    }

    /// Removes an operation with all of its places.
    mutating func remove(_ number: Int64, _ places: [Path]) {
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
    func inside(_ place: Path) -> Set<Int64> { (exact[place] ?? []).union(below[place] ?? []) }

    /// Returns the operations that touch a place above one.
    func above(_ place: Path) -> Set<Int64> {
        place.above.reduce(into: []) { $0.formUnion(exact[$1] ?? []) }
    }

    /// Returns the operations that touch one of several places, one above or one below.
    func touching(_ places: [Path]) -> Set<Int64> {
        places.reduce(into: []) { $0.formUnion(inside($1).union(above($1))) }
    }

    /// Whether an operation touches one of several places, one above or one below.
    func isTouched(_ places: [Path]) -> Bool {
        places.contains { place in
            exact[place] != nil || below[place] != nil || place.above.contains { exact[$0] != nil }
        }
    }
}

/// Elements in an order, each once. One is found in as many steps as the number of them has digits. The first one is
/// removed, and a last one added, without moving the others.
package struct SortedElements<Element: Sendable>: Sendable {
    package private(set) var elements: ArraySlice<Element>
    private let precedes: @Sendable (Element, Element) -> Bool

    /// Sorts elements by a strict order, in which no two are equal.
    package init(_ elements: [Element] = [], by precedes: @escaping @Sendable (Element, Element) -> Bool) {
        self.elements = elements.sorted(by: precedes)[...]
        self.precedes = precedes
    }

    /// Adds an element, in place of an equal one.
    package mutating func insert(_ element: Element) {
        let position = position(of: element)
        if isEqual(position, element) { elements[position] = element } else { elements.insert(element, at: position) }
    }

    package mutating func remove(_ element: Element) {
        let position = position(of: element)
        guard isEqual(position, element) else { return }
        guard position == elements.startIndex else {
            elements.remove(at: position)
            return
        }
        elements.removeFirst()
        // The removed elements stay allocated until they are as many as the rest.
        if elements.startIndex > elements.count { elements = Array(elements)[...] }
    }

    private func isEqual(_ position: Int, _ element: Element) -> Bool {
        position < elements.endIndex && !precedes(element, elements[position])
    }

    /// Returns the position of the first element that does not precede another one.
    private func position(of element: Element) -> Int {
        // Most are added at the end.
        if let last = elements.last, precedes(last, element) { return elements.endIndex }
        var (low, high) = (elements.startIndex, elements.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if precedes(elements[middle], element) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
