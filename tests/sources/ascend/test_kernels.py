# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from advisor.sources.ascend.kernels import KERNELS, is_communication, type_of_name
from advisor.sources.ascend.reading import Folder
from tests.sources.traces import arrow, captured, event, lane, of, thread

LEVEL0 = """Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim
50,aclnnMatmul_MatMulV3Common_MatMulV3,N/A,N/A,1736405443881410.320\t,50.621,0,0
50,hcom_allReduce__868_0_1,N/A,HCCL,1736405443909176.934\t,72994.438,0,0
"""


def test_level0_says_nothing_it_does_not_know(tmp_path: Path) -> None:
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=LEVEL0))
    assert row["op_type"] == "MatMulV3"
    assert row["start_ns"] == 1736405443881410320
    assert (row["rank"], row["step"], row["duration_us"]) == (3, 50, 50.621)
    unknown = ("core", "stream", "op_state", "blocks", "input_shapes", "mac_share", "cube_share")
    assert {name: row[name] for name in unknown} == dict.fromkeys(unknown)


MINDSPORE = """Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim
3,Kernel::KernelLaunch::Gradients/Default/network/dense-Dense/MatMul-op12/aclnnMatmul_MatMulV3Common_MatMulV3,N/A,N/A,1.000\t,50.621,0,0
3,PynativeFramework::PyNativeLaunchTask::Add/aclnnAdd_AddAiCore_Add,N/A,N/A,100.000\t,5,0,0
3,Default/network/Mul-op7,N/A,N/A,200.000\t,5,0,0
3,aclnnCast_CastAiCore_Cast,N/A,N/A,300.000\t,5,0,0
3,Kernel::KernelLaunch::Default/AllReduce-op3/hcom_allReduce__868_0_1,N/A,HCCL,400.000\t,72994.438,0,0
"""


def test_a_kernel_of_mindspore_has_the_name_of_its_operator_and_not_of_the_event_that_launched_it(
    tmp_path: Path,
) -> None:
    folder = captured(tmp_path, kernel_details=MINDSPORE)
    assert [(row["op_name"], row["op_type"]) for row in of(KERNELS.ways["text"], folder)] == [
        ("Gradients/Default/network/dense-Dense/MatMul-op12/aclnnMatmul_MatMulV3Common_MatMulV3", "MatMulV3"),
        ("Add/aclnnAdd_AddAiCore_Add", "Add"),
        ("Default/network/Mul-op7", "Mul"),
        ("aclnnCast_CastAiCore_Cast", "Cast"),
    ]
    (collective,) = of(COLLECTIVES.ways["text"], folder)
    assert (collective["name"], collective["op"]) == ("hcom_allReduce__868_0_1", "allReduce")


def test_shapes_lose_the_quotes_they_are_written_in_and_block_num_is_block_dim(tmp_path: Path) -> None:
    table = 'Name,Start Time(us),Duration(us),Block Num,Input Shapes\nk,1.000,2,20,"""4096,1024;4096"""\n'
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=table))
    assert (row["input_shapes"], row["blocks"], row["step"]) == ("4096,1024;4096", 20, None)


def test_a_share_is_the_larger_of_both_kinds_of_core_and_chips_without_two_kinds_have_one_name(tmp_path: Path) -> None:
    split = "Name,Start Time(us),Duration(us),aic_mte2_ratio,aiv_mte2_ratio,cube_utilization(%)\nk,1,2,0.25,0.5,80\n"
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=split))
    assert (row["mte2_share"], row["cube_share"], row["mac_share"]) == (0.5, 0.8, None)
    one = "Name,Start Time(us),Duration(us),mac_ratio,vec_ratio\nk,1,2,0.25,N/A\n"
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=one))
    assert (row["mac_share"], row["vector_share"]) == (0.25, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('"""4096,1024;4096"""', "4096,1024;4096"),
        ('"-1,64;;"', "-1,64;;"),
        ('"a,b"', None),
        ("DT_BF16;DT_BF16", None),
        ('"999999999999,999999999"', None),
        ('";;"', None),
        ("9" * 40, None),
    ],
)
def test_shapes_that_cannot_be_any_are_not_known(tmp_path: Path, written: str, read: str | None) -> None:
    table = f"Name,Type,Start Time(us),Duration(us),Input Shapes\nk,MatMulV3,1,2,{written}\n"
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=table))
    assert row["input_shapes"] == read


def test_a_kernel_of_a_compiled_graph_has_its_number_and_one_launched_by_itself_has_none(tmp_path: Path) -> None:
    table = "Model ID,Name,Start Time(us),Duration(us)\n2,MatMul_90,1,2\n4294967295,aclnnAdds_AddAiCore_Add,5,2\n"
    rows = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=table))
    assert [row["graph"] for row in rows] == [2, None]


OF_950 = """Name,Type,Accelerator Core,Start Time(us),Duration(us)
AllGatherMatmul_1,AllGatherMatmul,MIX_AIC,1.000,50
AllGatherMatmul_1,AllGatherMatmul,CCU,2.000,40
hcom_allReduce__868_0_1,hcom_allReduce_,CCU,60.000,30
"""


def test_what_the_unit_for_collectives_does_is_no_kernel_of_the_model(tmp_path: Path) -> None:
    folder = captured(tmp_path, kernel_details=OF_950)
    assert [row["core"] for row in of(KERNELS.ways["text"], folder)] == ["MIX_AIC"]
    assert [row["name"] for row in of(COLLECTIVES.ways["text"], folder)] == ["hcom_allReduce__868_0_1"]


def test_a_fused_kernel_listed_as_communication_is_one_of_the_model_where_its_cores_counted(tmp_path: Path) -> None:
    table = """Name,Type,Accelerator Core,Start Time(us),Duration(us),aiv_vec_ratio
DispatchFFNCombine_1,DispatchFFNCombine,COMMUNICATION,1.000,50,0.2
HcomAllReduce,HcomAllReduce,COMMUNICATION,60.000,50,N/A
HcomAllGather,HcomAllGather,COMMUNICATION,120.000,50,0
hcom_allReduce__868_0_1,hcom_allReduce_,COMMUNICATION,180.000,30,0.1
"""
    assert [row["op_type"] for row in of(KERNELS.ways["text"], captured(tmp_path, kernel_details=table))] == [
        "DispatchFFNCombine"
    ]


@pytest.mark.parametrize("name", ["hcom_allReduce__1_0_1", "allreduceAicpuKernel", "allgather_AivKernel_0"])
def test_kernels_of_collectives_are_no_kernels_of_the_model(name: str) -> None:
    assert is_communication(name)


def test_kernels_of_the_model_are_no_communication() -> None:
    assert not is_communication("aclnnAdd_AddAiCore_Add")


@pytest.mark.parametrize(
    ("name", "op_type"),
    [
        ("aclnnMatmul_MatMulV3Common_MatMulV3", "MatMulV3"),
        ("trans_TransData_0", "TransData"),
        ("Conv2DBackpropInput5", "Conv2DBackpropInput"),
        ("ReduceSum7", "ReduceSum"),
        ("matmul_kernel", "matmul_kernel"),
        ("chunk_fwd_kernel_o", "chunk_fwd_kernel_o"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("catlass_matmul_bf16", "catlass_matmul_bf16"),
        ("my_kernel_7_2", "my_kernel"),
        ("atomic_memset-1_69_2208226_1_0", "MemSet"),
        ("MatMulV3", "MatMulV3"),
        ("GatherV282", "GatherV2"),
        ("Conv2D", "Conv2D"),
        ("7", "7"),
        ("_", "_"),
    ],
)
def test_the_type_of_an_operator_is_in_its_name(name: str, op_type: str) -> None:
    assert type_of_name(name) == op_type


def test_without_a_table_of_kernels_the_timeline_shows_them(tmp_path: Path) -> None:
    trace = [
        lane(1, "Python"),
        lane(7, "CANN"),
        lane(9, "Ascend Hardware"),
        thread(9, 2, "Stream 2"),
        event("ProfilerStep#4", "100.000", 50.0, pid=1, cat="cpu_op"),
        event("Node@launch", "110.000", 5.0, pid=7),
        event("aclnnAdd_AddAiCore_Add", "120.000", 3.5, pid=9, tid=2, args={"Task Type": "AI_CORE"}),
        event("EVENT_WAIT", "130.000", 3.5, pid=9, tid=2, args={"Task Type": "EVENT_WAIT_SQE"}),
        *arrow(8, (7, 1, "111.000"), (9, 2, "120.000")),
    ]
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, trace))
    assert (row["op_type"], row["stream"], row["step"], row["duration_us"]) == ("Add", 2, 4, 3.5)


def test_where_the_list_tells_no_core_the_timeline_says_what_ran_on_the_ai_cpu(tmp_path: Path) -> None:
    listed = f"{LEVEL0}50,aclnnUnique_UniqueAiCpu_Unique,N/A,N/A,1736405443881500.000\t,9.5,0,0\n"
    tasks = [
        ("aclnnMatmul_MatMulV3Common_MatMulV3", "1736405443881410.320", "AI_CORE"),
        ("aclnnUnique_UniqueAiCpu_Unique", "1736405443881500.000", "AI_CPU"),
    ]
    trace = [
        lane(9, "Ascend Hardware"),
        *(event(name, begun, 9.5, pid=9, args={"Task Type": kind}) for name, begun, kind in tasks),
    ]
    rows = of(KERNELS.ways["text"], captured(tmp_path, trace, kernel_details=listed))
    assert [(row["op_type"], row["core"]) for row in rows] == [("MatMulV3", None), ("Unique", "AI_CPU")]


def test_kernels_to_which_the_timeline_gives_no_type_are_kernels(tmp_path: Path) -> None:
    """CANN of early 2024 calls the type of all tasks but those of the AI CPU `Other`."""
    trace = [
        lane(9, "Ascend Hardware"),
        *(
            event(name, f"{at}.000", pid=9, tid=2, args={"Task Type": kind})
            for at, (name, kind) in enumerate(
                [
                    ("aclnnAdd_AddAiCore_Add", "Other"),
                    ("MatMul12", "Other"),
                    ("aclnnReduceSum_CastAiCpu_Cast", "AI_CPU"),
                    ("EVENT_RECORD", "Other"),
                    ("MEMCPY_ASYNC", "Other"),
                    ("allreduceAicpuKernel", "Other"),
                ],
                10,
            )
        ),
    ]
    rows = of(KERNELS.ways["text"], captured(tmp_path, trace))
    assert [(row["op_type"], row["core"]) for row in rows] == [("Add", None), ("MatMul", None), ("Cast", "AI_CPU")]


def test_rows_of_no_type_in_the_table_of_kernels_are_kernels(tmp_path: Path) -> None:
    table = "Name,Accelerator Core,Start Time(us),Duration(us)\nAdd_1,Other,1.000,2\nAdd_2,AI_CORE,4.000,2\n"
    rows = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=table))
    assert [row["core"] for row in rows] == ["Other", "AI_CORE"]


def test_rows_that_are_there_twice_count_once_and_are_told(tmp_path: Path) -> None:
    rows = ["Add_1,AI_CORE,2,1.000,2", "Add_1,AI_CORE,3,1.000,2", "Add_2,AI_CORE,2,4.000,2", "Add_2,AI_CORE,2,8.000,2"]
    table = "\n".join(["Name,Accelerator Core,Stream ID,Start Time(us),Duration(us)", *rows, *rows[::-1], rows[0], ""])
    folder = captured(tmp_path, kernel_details=table)
    assert [row["stream"] for row in of(KERNELS.ways["text"], folder)] == [2, 3, 2, 2]
    (note,) = folder.notes.all()
    assert "repeat another one" in note.what.say("en") and note.rows == 5


def test_tasks_of_no_type_in_the_database_are_kernels_where_it_lists_them(tmp_path: Path) -> None:
    path = tmp_path / "profiler.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INT, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'Other'), (2, 'Add_1'), (3, 'Add');
            CREATE TABLE TASK(startNs INT, endNs INT, globalTaskId INT, taskType INT, streamId INT);
            INSERT INTO TASK VALUES (1000, 3000, 7, 1, 2), (4000, 4500, 8, 1, 2);
            CREATE TABLE COMPUTE_TASK_INFO(name INT, globalTaskId INT, taskType INT, opType INT);
            INSERT INTO COMPUTE_TASK_INFO VALUES (2, 7, 1, 3);
        """)
    folder = Folder(rank=0, root=tmp_path, output=tmp_path, databases={"profiler": path})
    assert [(row["op_type"], row["duration_us"]) for row in of(KERNELS.ways["database"], folder)] == [("Add", 2.0)]
    assert [row["kind"] for row in of(DEVICE_TASKS.ways["database"], folder)] == ["kernel", "mark"]


def test_kernels_whose_task_is_gone_are_told_but_not_those_of_another_device(tmp_path: Path) -> None:
    path = tmp_path / "profiler.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INT, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'Add_1');
            CREATE TABLE RANK_DEVICE_MAP(rankId INT, deviceId INT);
            INSERT INTO RANK_DEVICE_MAP VALUES (0, 0), (1, 1);
            CREATE TABLE TASK(startNs INT, endNs INT, globalTaskId INT, deviceId INT);
            INSERT INTO TASK VALUES (1000, 3000, 7, 0), (1000, 3000, 8, 1);
            CREATE TABLE COMPUTE_TASK_INFO(name INT, globalTaskId INT);
            INSERT INTO COMPUTE_TASK_INFO VALUES (1, 7), (1, 8);
        """)
    whole = Folder(rank=0, root=tmp_path, output=tmp_path, databases={"profiler": path})
    assert len(of(KERNELS.ways["database"], whole)) == 1
    assert not whole.notes.all()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (1, 9), (1, 10)")
        connection.commit()
    damaged = Folder(rank=0, root=tmp_path, output=tmp_path, databases={"profiler": path})
    assert len(of(KERNELS.ways["database"], damaged)) == 1
    (note,) = damaged.notes.all()
    assert (note.place, note.what, note.rows, note.share) == (
        "COMPUTE_TASK_INFO", Message("kernels_without_task"), 2, 0.5
    )  # fmt: skip


def kernel_without_times(tmp_path: Path, task: str) -> Folder:
    """A capture whose database lists a kernel and has no usable table of tasks."""
    path = tmp_path / "profiler.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"""
            CREATE TABLE STRING_IDS(id INT, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'Add_1');
            CREATE TABLE COMPUTE_TASK_INFO(name INT, globalTaskId INT);
            INSERT INTO COMPUTE_TASK_INFO VALUES (1, 7);
            {task}
        """)
    return Folder(rank=0, root=tmp_path, output=tmp_path, databases={"profiler": path})


@pytest.mark.parametrize("task", ["", "CREATE TABLE TASK(startNs INT, endNs INT, globalTaskId INT);"])
def test_kernels_of_a_database_without_any_task_are_told(task: str, tmp_path: Path) -> None:
    folder = kernel_without_times(tmp_path, task)
    with pytest.raises(FactMissing):
        of(KERNELS.ways["database"], folder)
    (note,) = folder.notes.all()
    assert (note.place, note.what, note.rows, note.share) == (
        "COMPUTE_TASK_INFO", Message("kernels_without_task"), 1, 1.0
    )  # fmt: skip


def test_a_table_of_events_without_their_times_is_told_by_its_column(tmp_path: Path) -> None:
    folder = kernel_without_times(
        tmp_path,
        "CREATE TABLE TASK(start INT, endNs INT, globalTaskId INT); INSERT INTO TASK VALUES (1000, 3000, 7);",
    )
    assert len(of(KERNELS.ways["database"], folder)) == 0
    (note,) = folder.notes.all()
    assert (note.place, note.what, note.kind) == ("TASK", Message("lacks_column", column="startNs"), "unreadable")


def test_without_both_there_are_no_kernels(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(KERNELS.ways["text"], captured(tmp_path))
