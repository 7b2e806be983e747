/// A row of a list of the API.
enum ListedRow: Sendable, Equatable {
    case item(DiskItem)
    /// An item that the app does not show, such as one with a path of another scheme.
    case elsewhere
    /// Not a row of the API.
    case unreadable

    /// Key of its position in a stored page: the path of an item, or a text that is none.
    var key: String {
        switch self {
        case .item(let item): item.path.text
        case .elsewhere: ""
        case .unreadable: "?"
        }
    }
}

extension Sequence<ListedRow> {
    /// The items that are shown.
    var items: [DiskItem] {
        compactMap { if case .item(let item) = $0 { item } else { nil } }
    }

    /// The rows with each item once: another row of the same path keeps its position only.
    var uniqueByPath: [ListedRow] {
        var seen = Set<DiskPath>()
        return map { row in
            guard case .item(let item) = row, !seen.insert(item.path).inserted else { return row }
            return .elsewhere
        }
    }
}
