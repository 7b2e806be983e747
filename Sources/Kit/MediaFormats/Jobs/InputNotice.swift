/// Something about an input that its user should know, though the job was done.
package struct InputNotice: Codable, Sendable, Equatable {
    /// What it is.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// Only the first of several pictures is a page: an animation or a burst.
        case firstPictureOnly = "first-picture-only"
        /// The PDF restricted printing or changes by an owner password (ISO 32000-1 7.6.3); the result does not.
        case restrictionsRemoved = "restrictions-removed"
        /// Readers draw fields of its form by themselves, from their values; here they are drawn by Larder.
        case fieldsDrawn = "fields-drawn"
        /// The PDF has bookmarks, which the result has not.
        case bookmarksRemoved = "bookmarks-removed"
        /// The PDF names its pages, such as i, ii, iii, which the result does not.
        case pageLabelsRemoved = "page-labels-removed"
        /// The PDF has links to its own pages, or others that are no web addresses, which the result has not.
        case linksRemoved = "links-removed"
        /// The PDF has a form, which cannot be filled in any more.
        case fieldsRemoved = "fields-removed"
        /// The PDF has sounds, films or models on its pages, which the result has not.
        case multimediaRemoved = "multimedia-removed"
        /// The PDF has files attached, which the result has not.
        case attachmentsRemoved = "attachments-removed"
        /// The PDF is signed; the result is not, though it looks so.
        case signaturesRemoved = "signatures-removed"
    }

    /// Position of the input, from 0.
    package var input: Int
    /// What it is.
    package var kind: Kind

    /// Creates a notice.
    package init(input: Int, kind: Kind) {
        self.input = input
        self.kind = kind
    }
}
