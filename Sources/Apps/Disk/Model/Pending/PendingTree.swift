import Foundation

/// The Disk after the pending writes: a pure function of those, over whatever rows the API has.
///
/// It is a tree of the paths that the writes touch. Each node is an item that the API has at some path
/// (``Node/source``), an item that is made here (``Node/item``), or a gap. At all other paths, the items of the API
/// remain. So a path is looked up in as many steps as it has names, however many writes wait.
struct PendingTree: Sendable {
    /// A place that a write touches.
    struct Node: Sendable {
        /// The path at which the API has it, with everything below it; nil if the API does not have it.
        var source: DiskPath?
        /// A file or folder that is made here.
        var item: DiskItem?
        /// The number of the write that has made ``item``.
        var made: Int64?
        /// The number of the write that has made it, or has changed it last; nil for a folder that only has such places
        /// in it.
        var write: Int64?
        /// Whether it will be published; nil if that does not change.
        var isPublished: Bool?
        /// Whether the API has something else at the same path, which is hidden by it.
        var replaces = false
        /// Whether it is shown in the place of that: the API has something there before and after the write.
        var keepsPlace = false
        /// Whether nothing is there.
        var isHidden = false
        var children = PersistentMap<FileName, Node>()

        /// Whether it is shown where the API lists it, in a folder of the API.
        func isInPlace(in folder: DiskPath?) -> Bool { item == nil && source?.parent == folder }

        /// Whether it only contains such places, and has none any more.
        fileprivate var isNeedless: Bool { children.isEmpty && write == nil && item == nil && !isHidden && !replaces }
    }

    enum Location: Sendable {
        /// The item that the API has at this path or another one, if there is one.
        case upstream(DiskPath, Node?)
        /// Something that is made here.
        case made(DiskItem, Node)
        case nothing
    }

    private(set) var root = Node(source: .root)

    func item(at path: DiskPath) -> Location {
        var node = root
        var source: DiskPath? = .root
        var isExplicit = true
        for name in path.names {
            if isExplicit, let child = node.children[name] {
                if child.isHidden { return .nothing }
                node = child
                source = child.source
            } else {
                isExplicit = false
                guard let above = source else { return .nothing }
                source = above.child(name.text)
            }
        }
        guard isExplicit else { return source.map { .upstream($0, nil) } ?? .nothing }
        if let item = node.item { return .made(item.at(path), node) }
        return node.source.map { .upstream($0, node) } ?? .nothing
    }

    /// Returns the node of a path, if a write has touched it.
    func node(_ path: DiskPath) -> Node? {
        var node = root
        for name in path.names {
            guard let child = node.children[name] else { return nil }
            node = child
        }
        return node
    }

    /// Whether nothing is at a path, or at one above it.
    func hides(_ path: DiskPath) -> Bool {
        var node = root
        for name in path.names {
            guard let child = node.children[name] else { return false }
            if child.isHidden { return true }
            node = child
        }
        return false
    }

    /// Applies a write after the earlier ones.
    ///
    /// - Parameter number: Its number in the order.
    mutating func apply(_ write: QueuedWrite, _ number: Int64, at time: Date) {
        switch write.kind {
        case .folder:
            var item = DiskItem(path: write.path, kind: .dir)
            item.created = time
            item.modified = time
            put(Node(item: item, made: number, write: number), at: write.path, over: write.place)
        case .upload:
            put(Node(item: uploaded(write, at: time), made: number, write: number), at: write.path, over: write.place)
        case .delete: _ = take(write.path)
        case .move:
            guard let to = write.to, var node = take(write.path) else { return }
            node.write = number
            put(node, at: to, over: write.place)
        case .publish, .unpublish:
            change(write.path) { node in
                node.isPublished = write.kind == .publish
                node.write = number
            }
        }
    }

    /// Removes the effects of writes at a path and below it: the items of the API are shown there again.
    mutating func forget(_ path: DiskPath) { root.forget(path.names[...]) }

    private func uploaded(_ write: QueuedWrite, at time: Date) -> DiskItem {
        var item = DiskItem(path: write.path, kind: .file)
        item.size = write.bytes?.length
        item.md5 = write.bytes?.md5
        item.sha256 = write.bytes?.sha256
        item.created = time
        item.modified = time
        (item.mediaType, item.mimeType) = FileTypes.types(of: item.fileExtension)
        return item
    }

    /// Removes the node of a path from the tree and returns it, with everything below it; nil if there is no item.
    private mutating func take(_ path: DiskPath) -> Node? {
        guard let name = path.names.last, let parent = path.parent else { return nil }
        var taken: Node
        switch item(at: path) {
        case .nothing: return nil
        case .upstream(let source, let node):
            taken = node ?? Node()
            taken.source = source
        case .made(_, let node): taken = node
        }
        let known = node(path)
        // An item that the API has at this path, or has by the time that the write is done, must not appear in its
        // place.
        let leavesGap = known == nil || known?.replaces == true || isOwnPlace(known, of: path)
        change(parent) { $0.children[name] = Node(replaces: leavesGap, isHidden: true) }
        taken.replaces = false
        taken.keepsPlace = false
        taken.isHidden = false
        return taken
    }

    /// Whether a node shows the API's item of the node's own path.
    private func isOwnPlace(_ node: Node?, of path: DiskPath) -> Bool {
        guard let node, node.item == nil, let source = node.source, let parent = path.parent,
            case .upstream(let above, _) = item(at: parent)
        else { return false }
        return source == above.child(path.name)
    }

    /// Puts something at a path.
    ///
    /// - Parameter seen: The item that the client has seen there.
    private mutating func put(_ node: Node, at path: DiskPath, over seen: SeenItem?) {
        guard let name = path.names.last, let parent = path.parent else { return }
        var node = node
        if let known = self.node(path) {
            let isOwn = isOwnPlace(known, of: path)
            node.replaces = known.replaces || isOwn
            node.keepsPlace = known.keepsPlace || isOwn && !known.replaces
        } else {
            node.replaces = seen != nil
            node.keepsPlace = seen != nil
        }
        change(parent) { $0.children[name] = node }
    }

    /// Changes the node of a path, which is made if it is not in the tree yet.
    private mutating func change(_ path: DiskPath, _ body: (inout Node) -> Void) {
        root.change(path.names[...], body)
    }
}

extension PendingTree.Node {
    fileprivate mutating func change(_ names: ArraySlice<FileName>, _ body: (inout Self) -> Void) {
        guard let name = names.first else { return body(&self) }
        let passing = PendingTree.Node(source: source?.child(name.text))
        children.update(name, default: passing) { $0.change(names.dropFirst(), body) }
    }

    fileprivate mutating func forget(_ names: ArraySlice<FileName>) {
        guard let name = names.first, children[name] != nil else { return }
        if names.count == 1 {
            children[name] = nil
        } else {
            children.update(name) { $0.forget(names.dropFirst()) }
            if children[name]?.isNeedless == true { children[name] = nil }
        }
    }
}

/// A name of a file, compared byte by byte: the API distinguishes composed and decomposed letters.
struct FileName: Hashable, Sendable {
    let text: String

    static func == (one: FileName, other: FileName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}

extension DiskPath {
    var names: [FileName] {
        guard !isRoot else { return [] }
        let rest = text.utf8.dropFirst(scheme.prefix.utf8.count)
        return rest.split(separator: UInt8(ascii: "/")).map { FileName(text: String(Substring($0))) }
    }
}

/// A dictionary whose copies share their unchanged parts. A change of a copy costs about the square root of the number
/// of its values.
struct PersistentMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// About as many parts as each of them has values; a power of two.
    private var parts: [[Key: Value]] = [[:]]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    subscript(key: Key) -> Value? {
        get { parts[part(of: key)][key] }
        set {
            let part = part(of: key)
            let before = parts[part].count
            parts[part][key] = newValue
            count += parts[part].count - before
            spread()
        }
    }

    /// Changes a value in its place, which is made if it is not there.
    mutating func update(_ key: Key, default made: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        let part = part(of: key)
        let before = parts[part].count
        body(&parts[part][key, default: made()])
        count += parts[part].count - before
        spread()
    }

    /// Changes a value in its place, if it is there.
    mutating func update(_ key: Key, _ body: (inout Value) -> Void) {
        let part = part(of: key)
        guard let index = parts[part].index(forKey: key) else { return }
        body(&parts[part].values[index])
    }

    private func part(of key: Key) -> Int { key.hashValue & (parts.count - 1) }

    private mutating func spread() {
        guard count > parts.count * parts.count * 2 else { return }
        let values = parts
        parts = Array(repeating: [:], count: parts.count * 2)
        for (key, value) in values.joined() { parts[part(of: key)][key] = value }
    }
}

extension PersistentMap: Sequence {
    func makeIterator() -> FlattenSequence<[[Key: Value]]>.Iterator { parts.joined().makeIterator() }
}
