import Foundation

extension DiskNode: Codable {
    private enum CodingKeys: CodingKey {
        case id, parent, name, isDirectory, content, judgedType, exif, created, modified, revision, uploaded, publication
        case properties, trashed
    }

    /// Decodes a node; a folder has no children yet.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try values.decode(Int.self, forKey: .id),
            parent: try values.decode(Int.self, forKey: .parent),
            name: try values.decode(String.self, forKey: .name),
            children: try values.decode(Bool.self, forKey: .isDirectory) ? [:] : nil,
            content: try values.decodeIfPresent(DiskContent.self, forKey: .content),
            judgedType: try values.decodeIfPresent(DiskFileType.self, forKey: .judgedType),
            exif: try values.decode(JSONObject.self, forKey: .exif),
            created: try values.decode(Date.self, forKey: .created),
            modified: try values.decode(Date.self, forKey: .modified),
            revision: try values.decode(Int.self, forKey: .revision),
            uploaded: try values.decode(Int.self, forKey: .uploaded),
            publication: try values.decodeIfPresent(Publication.self, forKey: .publication),
            properties: try values.decode(Properties.self, forKey: .properties),
            trashed: try values.decodeIfPresent(Trashed.self, forKey: .trashed)
        )
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(parent, forKey: .parent)
        try values.encode(name, forKey: .name)
        try values.encode(isDirectory, forKey: .isDirectory)
        try values.encodeIfPresent(content, forKey: .content)
        try values.encodeIfPresent(judgedType, forKey: .judgedType)
        try values.encode(exif, forKey: .exif)
        try values.encode(created, forKey: .created)
        try values.encode(modified, forKey: .modified)
        try values.encode(revision, forKey: .revision)
        try values.encode(uploaded, forKey: .uploaded)
        try values.encodeIfPresent(publication, forKey: .publication)
        try values.encode(properties, forKey: .properties)
        try values.encodeIfPresent(trashed, forKey: .trashed)
    }
}
