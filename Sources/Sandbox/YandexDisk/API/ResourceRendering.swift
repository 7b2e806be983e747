import Foundation
import JSONValues

/// Renders nodes as JSON of the API. Members that `fields` leaves out are never made, because links and digests take
/// most of the time.
struct ResourceRendering {
    let origin: String
    let links: DiskLinks
    let now: Date
    var previewSize = "S"
    var previewCrop = false
    /// The published node to which everything is relative; nil for the owner's view.
    var shared: DiskNode?

    /// - Parameter isListed: Whether it is an item of a list, which does not name the owner of the shared node.
    func resource(
        _ node: DiskNode,
        in tree: DiskTree,
        fields: FieldSelection,
        isListed: Bool = false
    ) -> JSONObject {
        var members = SelectedMembers(fields)
        let type = node.type
        members.add("path", .string(path(of: node, in: tree)))
        members.add("type", node.isDirectory ? "dir" : "file")
        members.add("name", .string(node.displayName))
        members.add("created", .string(DiskTime.text(node.created)))
        members.add("modified", .string(DiskTime.text(node.modified)))
        if let content = node.content {
            members.add("size", .integer(content.size))
            members.add("mime_type", type.mime.map { .string($0) })
            members.add("md5", .string(content.md5))
            members.add("sha256", .string(content.sha256))
        }
        if let publication = publication(of: node, in: tree) {
            members.add("public_key", .string(publication.key))
            members.add("public_url", .string(publication.url))
        }
        if node.content != nil { members.add("media_type", .string(type.media)) }
        addState(of: node, in: tree, to: &members)
        if let content = node.content { addLinks(to: content, of: node, in: tree, to: &members) }
        if case .some(let properties) = node.properties {
            members.add("custom_properties", properties.members.isEmpty ? .null : .object(properties))
        }
        if let shared {
            members.add("views_count", .integer(shared.id == node.id ? shared.publication?.views ?? 0 : 0))
            if !isListed { members.add("owner", owner(of: tree)) }
        }
        return members.object
    }

    private func addState(of node: DiskNode, in tree: DiskTree, to members: inout SelectedMembers) {
        members.add("origin_path", node.trashed.map { .string($0.origin.description) })
        members.add("deleted", node.trashed.map { .string(DiskTime.text($0.at)) })
        members.add("resource_id", .string("\(tree.account.uid):\(links.resourceID(of: node))"))
        members.add("revision", .integer(node.revision))
        members.add("comment_ids", comments(of: node, in: tree))
        members.add("exif", .object(node.exif))
        members.add("photoslice_time", node.exif["date_time"])
    }

    private func addLinks(
        to content: DiskContent,
        of node: DiskNode,
        in tree: DiskTree,
        to members: inout SelectedMembers
    ) {
        let uid = shared == nil ? tree.account.uid : "0"
        members.add("antivirus_status", "clean")
        members.add("file", .string(links.contentURL(node, origin: origin, uid: uid, now: now)))
        guard content.preview != nil else { return }
        members.add("preview", .string(previewURL(node, uid, size: previewSize, crop: previewCrop)))
        members.add("sizes", sizes(of: node, uid))
    }

    private func owner(of tree: DiskTree) -> JSONValue {
        let account = tree.account
        return [
            "login": .string(account.login), "display_name": .string(account.displayName),
            "uid": .string(account.uid),
        ]
    }

    /// A folder's list, below `_embedded`.
    func list(
        of node: DiskNode,
        in tree: DiskTree,
        items: [DiskNode],
        total: Int,
        paging: (limit: Int, offset: Int),
        sort: String,
        fields: FieldSelection
    ) -> JSONObject {
        var members = SelectedMembers(fields)
        if let publication = shared?.publication { members.add("public_key", .string(publication.key)) }
        members.add("sort", .string(sort))
        members.add("path", .string(path(of: node, in: tree)))
        members.add("limit", .integer(paging.limit))
        members.add("offset", .integer(paging.offset))
        members.add("total", .integer(total))
        let below = fields.below("items")
        members.add("items", .array(items.map { .object(resource($0, in: tree, fields: below, isListed: true)) }))
        return members.object
    }

    private func path(of node: DiskNode, in tree: DiskTree) -> String {
        let path = tree.path(of: node)
        guard let shared else { return path.description }
        return "/" + path.names.dropFirst(tree.path(of: shared).names.count).joined(separator: "/")
    }

    /// The node's own key and address. A node within a published folder has the folder's key and the address of the
    /// part.
    private func publication(of node: DiskNode, in tree: DiskTree) -> (key: String, url: String)? {
        guard let shared, let whole = shared.publication, shared.id != node.id else {
            return node.publication.map { ($0.key, $0.url) }
        }
        let below = path(of: node, in: tree).split(separator: "/").map {
            FormEncoding.encoded(String($0)).replacing("+", with: "%20")
        }
        return (whole.key, whole.url + "/" + below.joined(separator: "/"))
    }

    private func comments(of node: DiskNode, in tree: DiskTree) -> JSONValue {
        guard node.id != tree.root, node.id != tree.trash else { return [:] }
        let id = JSONValue.string("\(tree.account.uid):\(links.resourceID(of: node))")
        return ["private_resource": id, "public_resource": id]
    }

    private func previewURL(_ node: DiskNode, _ uid: String, size: String, crop: Bool) -> String {
        links.previewURL(node, origin: origin, uid: uid) + "&size=\(FormEncoding.encoded(size))&crop=\(crop ? 1 : 0)"
    }

    private func sizes(of node: DiskNode, _ uid: String) -> JSONValue {
        let named = DiskPreview.names.map { (name: $0.name, url: previewURL(node, uid, size: $0.name, crop: false)) }
        let all =
            [(name: "DEFAULT", url: links.previewURL(node, origin: origin, uid: uid))] + named
            + [(name: "C", url: previewURL(node, uid, size: previewSize, crop: previewCrop))]
        return .array(all.map { ["url": .string($0.url), "name": .string($0.name)] })
    }
}

/// An object with the requested members; the values of others are not made.
private struct SelectedMembers {
    private let fields: FieldSelection
    private(set) var object = JSONObject()

    init(_ fields: FieldSelection) { self.fields = fields }

    mutating func add(_ name: String, _ value: @autoclosure () -> JSONValue?) {
        guard fields.contains(name), let value = value() else { return }
        object.members.append(.init(name: name, value: value))
    }
}
