"""What a task file may say, one prompt family per file, text → token ids."""

from interp.tasks.files import Form, parse, task, task_names
from interp.tasks.prompting import Role, prompts, rows
from interp.tasks.spec import Single, Task
from interp.tasks.tokens import TaskTokenizer, tokenizer

__all__ = [
    "Form",
    "Role",
    "Single",
    "Task",
    "TaskTokenizer",
    "parse",
    "prompts",
    "rows",
    "task",
    "task_names",
    "tokenizer",
]
