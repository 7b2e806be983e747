/// Something about an input that its user should know, though the job was done.
public struct InputNotice: Codable, Sendable, Equatable {
    /// What it is.
    public enum Kind: String, Codable, Sendable {
        /// Only the first of several pictures is a page: an animation or a burst.
        case firstPictureOnly = "first-picture-only"
        /// The PDF restricted printing or changes by an owner password (ISO 32000-1 7.6.3); the result does not.
        case restrictionsRemoved = "restrictions-removed"
        /// Readers draw fields of its form by themselves, from their values; here they are drawn by Larder.
        case fieldsDrawn = "fields-drawn"
        /// The PDF has bookmarks, which the result has not.
        case bookmarksRemoved = "bookmarks-removed"
        /// The PDF has files attached, which the result has not.
        case attachmentsRemoved = "attachments-removed"
        /// The PDF is signed; the result is not, though it looks so.
        case signaturesRemoved = "signatures-removed"
    }

    /// Position of the input, from 0.
    public var input: Int
    /// What it is.
    public var kind: Kind

    /// Creates a notice.
    public init(input: Int, kind: Kind) {
        self.input = input
        self.kind = kind
    }
}
