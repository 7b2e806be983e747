import Storage
import Synchronization
import Upstream

/// The places that pending writes change, sorted for lists and searched by name.
///
/// A list is sorted once, and follows each change from then on.
final class PendingLists: Sendable {
    typealias Shown = PendingView.Shown

    private struct List {
        let folder: DiskPath?
        let isMember: @Sendable (Shown) -> Bool
        var rows: SortedElements<Shown>

        func concerns(_ shown: Shown) -> Bool {
            (folder.map { shown.isAdded && $0 == shown.path.parent } ?? true) && isMember(shown)
        }

        /// Changes the rows in their place: a copy that is held meanwhile would cost all of them.
        mutating func change(_ body: (inout SortedElements<Shown>) -> Void) { body(&rows) }
    }

    private struct State {
        var all: [Int64: Shown] = [:]
        var folders: [DiskPath: [Int64: Shown]] = [:]
        var names = NameGrams()
        var lists: [String: List] = [:]
    }

    /// Most lists whose order is kept.
    private static let mostLists = 64

    private let state = Mutex(State())

    func update(removing removed: [Shown], adding added: [Shown]) {
        state.withLock { state in
            for write in removed.map(\.write) {
                guard let shown = state.all.removeValue(forKey: write) else { continue }
                state.names.remove(write, shown.folded)
                let folder = shown.path.parent ?? .root
                state.folders[folder]?[write] = nil
                if state.folders[folder]?.isEmpty == true { state.folders[folder] = nil }
                Self.change(&state.lists, shown) { $0.remove(shown) }
            }
            for shown in added {
                state.all[shown.write] = shown
                state.names.insert(shown.write, shown.folded)
                if shown.isAdded { state.folders[shown.path.parent ?? .root, default: [:]][shown.write] = shown }
                Self.change(&state.lists, shown) { $0.insert(shown) }
            }
        }
    }

    private static func change(
        _ lists: inout [String: List],
        _ shown: Shown,
        _ body: (inout SortedElements<Shown>) -> Void
    ) {
        for key in Array(lists.keys) where lists[key]?.concerns(shown) == true { lists[key]?.change(body) }
    }

    func added(to folder: DiskPath) -> [Shown] { state.withLock { $0.folders[folder].map { Array($0.values) } ?? [] } }

    /// Returns the members of a list in its order.
    ///
    /// - Parameters:
    ///   - key: Its name; the same members and order for the same name.
    ///   - folder: The folder to which they are added; nil for the changed rows of all folders.
    func rows(
        _ key: String,
        of folder: DiskPath?,
        _ isMember: @escaping @Sendable (Shown) -> Bool,
        by precedes: @escaping @Sendable (Shown, Shown) -> Bool
    ) -> ArraySlice<Shown> {
        state.withLock { state in
            if let known = state.lists[key] { return known.rows.elements }
            let candidates = folder.map { state.folders[$0] ?? [:] } ?? state.all
            let rows = SortedElements(candidates.values.filter(isMember), by: precedes)
            if state.lists.count >= Self.mostLists { state.lists = [:] }
            state.lists[key] = List(folder: folder, isMember: isMember, rows: rows)
            return rows.elements
        }
    }

    struct Matches: Sendable {
        /// Those of the requested page.
        var page: [Shown] = []
        /// The number of all. If names have to be compared, it ends at `SearchHits.counted` or at the first one after
        /// the page, whichever is more.
        var count = 0
        /// Number of names that were compared.
        var steps = 0
    }

    /// Returns the rows whose names contain a text, the last write first.
    ///
    /// - Parameters:
    ///   - first: The number of those before the page.
    ///   - limit: The most that the page has.
    func search(_ query: PartQuery, first: Int = 0, limit: Int) -> Matches {
        var matches = Matches()
        guard !query.isEmpty else { return matches }
        let text = Array(query.text.utf8)
        return state.withLock { state in
            let candidates = state.names.candidates(text).reversed()
            guard text.count > NameGrams.longest else {
                matches.count = candidates.count
                matches.page = candidates.dropFirst(first).prefix(limit).compactMap { state.all[$0] }
                matches.steps = matches.page.count
                return matches
            }
            let most = max(first + limit + 1, SearchHits.counted)
            for number in candidates {
                guard matches.count < most else { break }
                matches.steps += 1
                guard let shown = state.all[number], NameGrams.has(shown.folded, text) else { continue }
                matches.count += 1
                if matches.count > first, matches.page.count < limit { matches.page.append(shown) }
            }
            return matches
        }
    }
}

/// The names that contain each sequence of one to three bytes, so that a search compares few of them.
struct NameGrams: Sendable {
    /// The most bytes in a row by which names are found.
    static let longest = 3

    private var numbers: [UInt32: SortedElements<Int64>] = [:]

    mutating func insert(_ number: Int64, _ name: String) {
        for gram in Self.grams(of: name) { numbers[gram, default: SortedElements(by: <)].insert(number) }
    }

    mutating func remove(_ number: Int64, _ name: String) {
        for gram in Self.grams(of: name) {
            numbers[gram]?.remove(number)
            if numbers[gram]?.elements.isEmpty == true { numbers[gram] = nil }
        }
    }

    /// Returns names among which are all that have a text, in order. Of at most ``longest`` bytes, all of them have it.
    func candidates(_ text: [UInt8]) -> ArraySlice<Int64> {
        Self.grams(text, length: min(text.count, Self.longest)).map { numbers[$0]?.elements ?? [] }
            .min { $0.count < $1.count } ?? []
    }

    /// Whether a name has a text, byte by byte, as the store compares them.
    static func has(_ name: String, _ text: [UInt8]) -> Bool {
        var name = name
        return name.withUTF8 { name in
            text.withUnsafeBufferPointer { text in
                guard let first = text.first else { return true }
                return (0..<max(name.count - text.count + 1, 0)).contains { start in
                    name[start] == first && name[start..<start + text.count].elementsEqual(text)
                }
            }
        }
    }

    private static func grams(of name: String) -> Set<UInt32> {
        let bytes = Array(name.utf8)
        return (1...longest).reduce(into: []) { $0.formUnion(grams(bytes, length: $1)) }
    }

    /// Returns all sequences of `length` bytes, each after a 1 bit that marks its length.
    private static func grams(_ bytes: [UInt8], length: Int) -> Set<UInt32> {
        Set(
            bytes.indices.dropLast(length - 1).map { start in
                bytes[start..<start + length].reduce(1) { $0 << 8 | UInt32($1) }
            }
        )
    }
}
