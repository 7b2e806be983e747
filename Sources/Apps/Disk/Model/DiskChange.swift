/// A change that a write has made, which is applied to the store once the API says that it is done.
enum DiskChange: Sendable, Equatable {
    case deleted(DiskPath)
    case moved(from: DiskPath, to: DiskPath)
    case unpublished(DiskPath)
    case restored(DiskPath)
    /// An item is new or has changed; with its row, if that is known.
    case appeared(DiskPath, DiskItem?)
    /// Any item may have changed.
    case doubtful

    /// Whether it says at which paths the items are now.
    var isKnown: Bool {
        switch self {
        case .deleted, .moved, .unpublished, .appeared(_, _?): true
        case .restored, .appeared(_, nil), .doubtful: false
        }
    }
}
