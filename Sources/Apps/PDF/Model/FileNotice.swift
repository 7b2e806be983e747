import Media
import Screens

/// Something about a file of a request that its user should know, though everything was done.
struct FileNotice: Encodable, Sendable, Equatable {
    /// Position of the file in the request, from 0.
    let file: Int
    let code: String
    /// A sentence for people.
    let text: Text

    /// Creates a notice.
    ///
    /// - Parameter files: the files of the request.
    init(_ notice: InputNotice, _ files: [SourceFile]) {
        file = notice.input
        code = notice.kind.rawValue
        let title = files.indices.contains(notice.input) ? files[notice.input].title : "file \(notice.input + 1)"
        text =
            switch notice.kind {
            case .firstPictureOnly: .firstPictureOnly(title)
            case .restrictionsRemoved: .restrictionsRemoved(title)
            case .fieldsDrawn: .fieldsDrawn(title)
            case .bookmarksRemoved: .bookmarksRemoved(title)
            case .pageLabelsRemoved: .pageLabelsRemoved(title)
            case .linksRemoved: .linksRemoved(title)
            case .fieldsRemoved: .fieldsRemoved(title)
            case .multimediaRemoved: .multimediaRemoved(title)
            case .attachmentsRemoved: .attachmentsRemoved(title)
            case .signaturesRemoved: .signaturesRemoved(title)
            }
    }
}
