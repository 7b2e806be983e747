import Foundation

/// The files that are there at the start. Paths, sizes and times are always the same; only pictures and links follow
/// from the seed.
enum DiskSeed {
    /// Where saved public files go.
    static let downloads = "disk:/Загрузки"

    /// As the service names them; those of social networks are there only when they are used.
    static let systemFolders: KeyValuePairs<String, String> = [
        "odnoklassniki": "disk:/Социальные сети/Одноклассники", "google": "disk:/Социальные сети/Google+",
        "instagram": "disk:/Социальные сети/Instagram",
        "vkontakte": "disk:/Социальные сети/ВКонтакте", "attach": "disk:/Почтовые вложения",
        "mailru": "disk:/Социальные сети/Мой Мир",
        "downloads": "disk:/Загрузки/", "applications": "disk:/Приложения",
        "facebook": "disk:/Социальные сети/Facebook", "social": "disk:/Социальные сети/",
        "messenger": "disk:/Файлы Мессенджера", "calendar": "disk:/Материалы встреч", "scans": "disk:/Сканы",
        "screenshots": "disk:/Скриншоты/",
        "photostream": "disk:/Фотокамера/",
    ]

    /// 10 January 2024, 08:00:00 UTC: when the first file came; the others followed about two days apart.
    static let start = Date(timeIntervalSince1970: 1_704_873_600)

    static func model(seed: UInt64) -> DiskModel {
        let links = DiskLinks(seed: seed)
        var anna = DiskSeeding(account: anna, number: 1, totalSpace: 10_737_418_240, seed: seed, links: links)
        anna.plantEverything()
        var boris = DiskSeeding(account: boris, number: 2, totalSpace: 5_368_709_120, seed: seed &+ 1, links: links)
        boris.plantLittle()
        return DiskModel(trees: [anna.tree, boris.tree], links: links)
    }

    private static let anna = DiskAccount(
        login: "anna",
        displayName: "Анна Песочница",
        uid: "100000001",
        country: "ru",
        isPaid: true,
        registered: Date(timeIntervalSince1970: 1_483_261_200)
    )
    private static let boris = DiskAccount(
        login: "boris",
        displayName: "Boris",
        uid: "100000002",
        country: "kz",
        isPaid: false,
        registered: Date(timeIntervalSince1970: 1_583_261_200)
    )
}

/// Plants the files of one account, each about two days after the one before.
struct DiskSeeding {
    private(set) var tree: DiskTree
    private var now = DiskSeed.start
    private let seed: UInt64
    private let links: DiskLinks

    init(account: DiskAccount, number: Int, totalSpace: Int, seed: UInt64, links: DiskLinks) {
        tree = DiskTree(account: account, number: number, totalSpace: totalSpace, at: account.registered)
        self.seed = seed
        self.links = links
    }

    private mutating func advance() { now += 160_007 }

    @discardableResult
    mutating func folder(_ path: String) -> Int {
        var parent = tree.root
        for name in path.split(separator: "/").map(String.init) {
            if let there = tree.nodes[parent]?.children?[NameKey(name)] {
                parent = there
            } else {
                advance()
                parent = tree.add(name, to: parent, at: now)
            }
        }
        return parent
    }

    @discardableResult
    mutating func file(_ folder: String, _ name: String, _ file: MadeFile, exif: JSONObject = .init()) -> Int {
        plant(folder, name, DiskContent(file), exif: exif)
    }

    @discardableResult
    mutating func plant(_ folder: String, _ name: String, _ content: DiskContent, exif: JSONObject = .init()) -> Int {
        let parent = self.folder(folder)
        advance()
        return tree.add(name, to: parent, content: content, exif: exif, at: now)
    }

    mutating func publish(_ id: Int) {
        let links = self.links
        advance()
        let revision = tree.revision + 1
        tree.update(id, at: now) { $0.publication = links.publication(of: $0, revision: revision) }
    }

    mutating func discard(_ id: Int) {
        advance()
        tree.discard(id, at: now)
    }

    mutating func setProperties(_ properties: JSONObject, of id: Int) {
        advance()
        tree.update(id, at: now) { $0.properties = .some(properties) }
    }

    /// The `number`-th view.
    func landscape(_ number: Int) -> Landscape { Landscape(seed: SplitMix64.value(seed: seed, index: UInt64(number))) }

    /// What a camera records; every other photo has the place where it was taken.
    func exif(_ number: Int) -> JSONObject {
        var exif = JSONObject()
        exif["date_time"] = .string(DiskTime.text(now.addingTimeInterval(9_007)))
        if number.isMultiple(of: 2) {
            exif["gps_longitude"] = .number("37.\(6_000 + number)")
            exif["gps_latitude"] = .number("55.\(7_000 + number)")
        }
        return exif
    }
}
